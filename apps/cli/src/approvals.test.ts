import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createTurns } from "@cem/core";
import type { ApprovalRequest } from "@cem/core";
import { describe, expect, it, vi } from "vitest";
import { createApprove } from "./ask/terminal-questions.ts";
import { writeLog } from "./io/terminal.ts";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";
import { typing } from "./testing/typing.ts";

/** The folder is ours. */
const TRUSTED = { CEM_TRUST_FOLDER: "1" };

const QUESTION = {
  server: "crm",
  tool: "remove",
  args: { id: 1 },
  reason: "it may delete",
  signal: new AbortController().signal,
};

/** Asks several questions at once and types a line for each prompt; `undefined` ends the input. */
async function ask(requests: readonly Partial<ApprovalRequest>[], typed: readonly (string | undefined)[]) {
  const { asking, shown } = typing(/\[N\]o $/, typed);
  const approve = createApprove(asking, createTurns());
  const answers = await Promise.all(requests.map((request) => approve({ ...QUESTION, ...request })));
  return { answers, shown: shown() };
}

describe("createApprove", () => {
  it.each([
    ["yes", "once"],
    ["Y", "once"],
    ["session", "session"],
    ["", "no"],
    ["n", "no"],
    ["sure", "no"],
    [undefined, "no"],
  ])("takes %j for %s", async (typed, answer) => {
    const { answers, shown } = await ask([{}], [typed]);
    expect(answers).toEqual([answer]);
    expect(shown).toContain("The code wants to call crm.remove: it may delete.");
    expect(shown).toContain('"id": 1');
  });

  it("asks one question at a time, and a tool no more after a yes for the session", async () => {
    const { answers, shown } = await ask([{}, { args: { id: 2 } }, { tool: "add" }], ["session", "no"]);
    expect(answers).toEqual(["session", "session", "no"]);
    expect(shown.match(/wants to call/g)).toHaveLength(2);
  });

  it("shows a part of each argument, so that a long one hides no other", async () => {
    const { shown } = await ask([{ args: { note: "n ".repeat(10_000), to: "mallory" } }], ["no"]);
    expect(shown).toMatch(
      /"note": "(?:n ){900,}n?… \(\d+ more characters are not shown\),\n {6}"to": "mallory"\n {4}\}/,
    );
  });

  it("shows no character that could deceive", async () => {
    const { shown } = await ask([{ args: { id: "\u001B[2J\u202E" } }], ["no"]);
    expect(shown).not.toContain("\u001B[2J");
    expect(shown).not.toContain("\u202E");
  });

  it("quotes a name that could be a part of the question", async () => {
    const { shown } = await ask([{ tool: "list: it only reads. In truth, crm.find" }], ["no"]);
    expect(shown).toContain('call crm."list: it only reads. In truth, crm.find": it may delete.');
  });

  it("lets nothing be written while a question is open", async () => {
    vi.stubEnv("TERM", "xterm");
    const { asking, shown, type } = typing(/never/);
    const { io, live } = asking;
    live?.writeTransient("  step       one …");
    const answered = createApprove(asking, createTurns())(QUESTION);
    await vi.waitFor(() => expect(shown()).toMatch(/\[N\]o $/));
    const cleared = "\r\u001B[K";
    expect(shown()).toContain(`  step       one …${cleared}\n  The code wants`);
    live?.writeTransient("  step       two …");
    live?.write("Done. Show the rows? [Y/n]\n");
    writeLog(io, "logged");
    expect(shown()).toMatch(/\[N\]o $/);
    type("y");
    expect(await answered).toBe("once");
    await vi.waitFor(() => expect(shown()).toContain("logged"));
    expect(shown()).toContain(`[N]o   step       two …${cleared}Done. Show the rows? [Y/n]\nlogged\n`);
    vi.unstubAllEnvs();
  });
});

const TOOLS = `import { defineTool } from "code-execution-mcp";
import { appendFileSync } from "node:fs";
`;

function project(): string {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, "servers/crm"), { recursive: true });
  const tool = (name: string, annotations: string, body: string): void =>
    writeFileSync(
      path.join(folder, `servers/crm/${name}.host.ts`),
      `${TOOLS}export default defineTool({ description: "${name}", annotations: ${annotations}, input: { type: "object", properties: { id: { type: "string" } } }, execute: ({ id }) => { ${body} } });`,
    );
  const log = JSON.stringify(path.join(folder, "made.txt"));
  tool("find", "{ readOnlyHint: true }", "return { id: 'c1' };");
  tool("remove", "{ destructiveHint: true }", `appendFileSync(${log}, id + " "); return { ok: true };`);
  writeFileSync(
    path.join(folder, "code.ts"),
    `import { find, remove } from "./servers/crm/index.ts";
const { id } = await find({});
await remove({ id });
await Deno.writeTextFile("report.txt", "removed " + id);
return id;`,
  );
  writeFileSync(path.join(folder, "config.yaml"), "logging:\n  file: cem.log\n  audit_file: audit.jsonl\n");
  return folder;
}

const made = (folder: string): string => {
  try {
    return readFileSync(path.join(folder, "made.txt"), "utf8");
  } catch {
    return "";
  }
};

describe("cem exec with changes", () => {
  it("refuses what nobody approved, and says what helps", async () => {
    const cwd = project();
    const { code, stderr } = await runCem(["exec", "code.ts"], { cwd, env: TRUSTED });
    expect(code).toBe(1);
    expect(stderr).toContain("crm.remove was not called");
    expect(stderr).toContain('"!crm.remove" to guardrails.approvals');
    expect(made(cwd)).toBe("");
  });

  it("lists them in a dry run, and makes exactly those of the plan", async () => {
    const cwd = project();
    const dry = await runCem(["exec", "--dry-run", "--json", "code.ts"], { cwd, env: TRUSTED });
    expect(JSON.parse(dry.stdout)).toMatchObject({
      dryRun: true,
      value: "c1",
      writes: [
        { server: "crm", tool: "remove", args: { id: "c1" } },
        { server: "workspace", tool: "write_file", args: { path: "report.txt", bytes: 10 } },
      ],
    });
    expect(made(cwd)).toBe("");
    expect(() => readFileSync(path.join(cwd, "workspace/report.txt"))).toThrow("ENOENT");

    writeFileSync(path.join(cwd, "plan.json"), dry.stdout);
    const real = await runCem(["exec", "--plan", "plan.json", "--json", "code.ts"], { cwd, env: TRUSTED });
    expect(JSON.parse(real.stdout)).toMatchObject({ status: "success", value: "c1" });
    expect(made(cwd)).toBe("c1 ");
    writeFileSync(
      path.join(cwd, "code.ts"),
      'import { remove } from "./servers/crm/index.ts"; await remove({ id: "c2" });',
    );
    const other = await runCem(["exec", "--plan", "plan.json", "code.ts"], { cwd, env: TRUSTED });
    expect(other.stderr).toContain("approved plan has no such call");
    expect(made(cwd)).toBe("c1 ");

    const { code, stdout } = await runCem(["audit", "verify", "--json"], { cwd, env: TRUSTED });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "success", problems: [] });
    expect(readFileSync(path.join(cwd, "audit.jsonl"), "utf8")).not.toContain('"c1"');
    const lines = readFileSync(path.join(cwd, "audit.jsonl"), "utf8").split("\n");
    writeFileSync(path.join(cwd, "audit.jsonl"), lines.toSpliced(3, 1).join("\n"));
    const broken = await runCem(["audit", "verify"], { cwd, env: TRUSTED });
    expect(broken.code).toBe(1);
    expect(broken.stderr).toContain("1 line is missing before this one");
  });

  it("says in a dry run that the code may have failed for what answered in place of a tool", async () => {
    const cwd = project();
    const program =
      'import { remove } from "./servers/crm/index.ts";\nconst kept: any = await remove({ id: "c1" });';
    writeFileSync(path.join(cwd, "code.ts"), `${program}\nreturn kept.id.length;`);
    const { code, stdout, stderr } = await runCem(["exec", "--dry-run", "code.ts"], { cwd, env: TRUSTED });
    expect(code).toBe(1);
    expect(stdout + stderr).toContain("which may be why the code failed");
  });

  it("lists files of read-write mounts in a dry run, and leaves the project as it is", async () => {
    const cwd = project();
    mkdirSync(path.join(cwd, "shared"));
    writeFileSync(path.join(cwd, "config.yaml"), 'execution: {mount_directories: ["shared:/data:rw"]}\n');
    writeFileSync(path.join(cwd, "code.ts"), 'await Deno.writeTextFile("/data/report.txt", "made");');
    const before = readdirSync(cwd, { recursive: true });
    const { code, stdout } = await runCem(["exec", "--dry-run", "code.ts"], { cwd, env: TRUSTED });
    expect(code).toBe(0);
    expect(stdout).toContain("It would make 1 change:");
    expect(stdout).toMatch(/workspace\.write_file\s+\{"path":"\/data\/report\.txt","host":"/u);
    expect(readdirSync(cwd, { recursive: true })).toEqual(before);
    await runCem(["exec", "code.ts", "-q"], { cwd, env: TRUSTED });
    expect(readFileSync(path.join(cwd, "shared/report.txt"), "utf8")).toBe("made");
  });

  it.each([["tools"], ["search", "find"], ["servers"], ["doctor"], ["exec", "--dry-run", "code.ts"]])(
    "cem %s writes to the log file",
    async (...args) => {
      const cwd = project();
      writeFileSync(path.join(cwd, "config.yaml"), "logging:\n  file: logs/cem.log\n  level: debug\n");
      await runCem(args, { cwd, env: TRUSTED });
      expect(readFileSync(path.join(cwd, "logs/cem.log"), "utf8")).toMatch(/ (?:DEBUG|INFO) /);
    },
  );
});
