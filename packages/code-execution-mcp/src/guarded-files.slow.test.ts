import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import type { ConfigInput } from "@cem/config";
import type { ApprovalAnswer, AuditEvent, AuditLog, ExecuteOptions, SandboxSpec } from "@cem/core";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDenoSandboxProvider } from "@cem/sandbox-deno";
import { createAgent, defineTool } from "./index.ts";
import type { Agent, AgentOptions } from "./index.ts";

const FILES: Record<string, string> = {
  "servers/store/index.ts": `export { put } from "./put.ts";\nexport { get } from "./get.ts";\nexport { put_twice } from "./put_twice.ts";\nexport { sum } from "./sum.ts";\n`,
  "servers/_shared/note.ts": `export const note = (name: string): Promise<void> => Deno.writeTextFile(name, "note");\n`,
  "servers/store/_write.ts": `import { note } from "../_shared/note.ts";
export async function write(name: string, text: string): Promise<void> {
  await note(name);
  await Deno.writeTextFile(name, text);
}
export const pathOf = (name: string): string => "/workspace/" + name;\n`,
  "servers/store/put.ts": `import { pathOf, write } from "./_write.ts";
export interface PutInput { name: string; text: string }
export const SUFFIX = "!";
/**
 * Puts a text into a file.
 *
 * @destructive
 */
export async function put({ name, text }: PutInput): Promise<{ written: number }> {
  await write(pathOf(name), text);
  return { written: text.length };
}\n`,
  "servers/store/get.ts": `import { pathOf } from "./_write.ts";
/**
 * Gets the text of a file.
 *
 * @readOnly
 */
export async function get({ name }: { name: string }): Promise<string> {
  return Deno.readTextFile(pathOf(name));
}\n`,
  "servers/store/put_twice.ts": `import { put, SUFFIX } from "./put.ts";
/**
 * Puts a text twice.
 *
 * @readOnly
 */
export async function put_twice({ name }: { name: string }): Promise<string> {
  await put({ name, text: "1" });
  await put({ name: name + "2", text: "2" });
  return SUFFIX;
}\n`,
  "servers/store/sum.ts": `/**
 * Adds numbers.
 *
 * @readOnly
 */
export async function sum(first: number, by = 10, ...others: number[]): Promise<number> {
  return others.reduce((total, one) => total + one, first) * by;
}\n`,
  "servers/reports/index.ts": `export { report } from "./report.ts";\n`,
  "servers/reports/report.ts": `import { put } from "../store/index.ts";
/**
 * Writes a report.
 *
 * @readOnly
 */
export async function report({ name }: { name: string }): Promise<unknown> {
  return put({ name, text: "report" });
}\n`,
  "servers/other/index.ts": `export { double } from "./double.ts";\nexport const BASE = 21;\n`,
  "servers/other/double.ts": `/**
 * Doubles a number.
 *
 * @readOnly
 */
export async function double({ value }: { value: number }): Promise<number> { return value * 2; }\n`,
  "servers/bad/index.ts": `export { fail, hang, flood, leave, eat, odd } from "./bad.ts";\n`,
  "servers/bad/bad.ts": `/** Fails. */
export async function fail(): Promise<void> { throw new RangeError("out of cheese"); }
/** Hangs. */
export async function hang(): Promise<void> { for (;;); }
/** Floods. */
export async function flood(): Promise<void> { for (;;) console.log("x".repeat(10_000)); }
/** Leaves. */
export async function leave(): Promise<void> { Deno.exit(3); }
/** Returns what is no JSON. */
export async function odd(): Promise<unknown> { const round: Record<string, unknown> = {}; round.self = round; return round; }
/** Eats. */
export async function eat(): Promise<void> { const all: unknown[] = []; for (;;) all.push(new Array(1_000_000).fill(1.5)); }\n`,
  "servers/people/index.ts": `export { find } from "./find.ts";\n`,
  "servers/people/find.ts": `/**
 * Finds a person.
 *
 * @readOnly
 */
export async function find(): Promise<{ email: string }> { return { email: "ada.lovelace@example.org" }; }\n`,
  "servers/loop/index.ts": `export { again } from "./again.ts";\n`,
  "servers/loop/again.ts": `import { callTool } from "cem:client";
/**
 * Calls itself through the host.
 *
 * @readOnly
 */
export async function again(): Promise<unknown> { return callTool("loop", "again", {}); }\n`,
  "skills/saver/SKILL.md": "---\nname: saver\ndescription: Saves.\n---\n",
  "skills/saver/index.ts": `import { put } from "../../servers/store/index.ts";
/** Saves a text. */
export async function save({ name }: { name: string }): Promise<unknown> { return put({ name, text: "skill" }); }\n`,
};

const folder = mkdtempSync(path.join(os.tmpdir(), "cem-guarded-files-"));
for (const [name, text] of Object.entries(FILES)) {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const workspace = path.join(folder, "workspace");
const written = (name: string): string | undefined =>
  existsSync(path.join(workspace, name)) ? readFileSync(path.join(workspace, name), "utf8") : undefined;

const agents: Agent[] = [];
function agentWith(guardrails: ConfigInput["guardrails"], options: AgentOptions = {}): Agent {
  const { config, ...others } = options;
  const agent = createAgent({
    cwd: folder,
    configFile: false,
    sessions: false,
    config: {
      ...config,
      guardrails,
      execution: { typeCheck: "off", ...config?.execution },
      logging: { level: "CRITICAL" },
      optimizations: { toolCache: false, sandboxPooling: false },
    },
    ...others,
  });
  agents.push(agent);
  return agent;
}
/** Guests that are kept have the folder itself. */
function emptyWorkspace(): void {
  for (const name of existsSync(workspace) ? readdirSync(workspace) : [])
    rmSync(path.join(workspace, name), { recursive: true, force: true });
}
afterEach(emptyWorkspace);
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.dispose()));
  rmSync(folder, { recursive: true, force: true });
});

/** The value of the program, or the code of the error that ended it. */
async function outcomeOf(agent: Agent, code: string, options?: ExecuteOptions): Promise<unknown> {
  const { error, value } = await agent.executeCode(code, options);
  return error === null ? value : ((error.details["toolError"] as { code?: string })?.code ?? error.code);
}

const PUT = `import { put } from "./servers/store/index.ts";
return await put({ name: "a.txt", text: "abc" });`;
const NAME = `{ name: "a.txt", text: "abc" }`;

/** A text as no review can read it. */
const unread = (text: string): string =>
  `[${Array.from(text, (one) => one.charCodeAt(0)).join()}].map((one) => String.fromCharCode(one)).join("")`;

/** Programs that write with the tool, and whether they would without a guard. */
const WAYS: [way: string, code: string, works: boolean][] = [
  ["its own module", `import { put } from "./servers/store/put.ts"; await put(${NAME});`, true],
  [
    "another path",
    `await (await import(${unread("./servers/store/../store/put.ts?x")})).put(${NAME});`,
    true,
  ],
  [
    "a path that is made up",
    `await (await import(${unread("./servers/store/index.ts")})).put(${NAME});`,
    true,
  ],
  ["a skill", `import { save } from "./skills/saver/index.ts"; await save({ name: "a.txt" });`, true],
  [
    "another tool of its server",
    `import { put_twice } from "./servers/store/index.ts"; await put_twice({ name: "a.txt" });`,
    true,
  ],
  [
    "a tool of another server",
    `import { report } from "./servers/reports/index.ts"; await report({ name: "a.txt" });`,
    true,
  ],
  [
    "the raw call",
    `import { callTool } from "./client/index.ts"; await callTool("store", "put", ${NAME});`,
    false,
  ],
  [
    "its source in a file",
    `const text = await Deno.readTextFile("./servers/store/put.ts");
await Deno.writeTextFile("copy.ts", text.replace("../../client", "./client").replace("./_write", "./servers/store/_write"));
await (await import("./copy.ts")).put(${NAME});`,
    true,
  ],
  [
    "its source in a URL",
    `const text = (await Deno.readTextFile("./servers/store/put.ts")).replace("../../client/index.ts", "cem:client");
const own = text.replace("./_write.ts", "file:///workspace/servers/store/_write.ts");
await (await import("data:application/typescript," + encodeURIComponent(own))).put(${NAME});`,
    true,
  ],
  [
    "a copy of its folder",
    `for (const name of ["store/put.ts", "store/_write.ts", "_shared/note.ts"]) {
  await Deno.mkdir("copies/" + name.split("/")[0], { recursive: true });
  await Deno.copyFile("./servers/" + name, "copies/" + name);
}
await (await import("./copies/store/put.ts")).put(${NAME});`,
    true,
  ],
  ["its helper", `await (await import(${unread("./servers/store/_write.ts")})).write("a.txt", "x");`, true],
  ["a helper of all", `await (await import(${unread("./servers/_shared/note.ts")})).note("a.txt");`, true],
  [
    "the place of its folder",
    `for (let at = 0; at < 12; at += 1)
  await import("/cem/mounts/" + at + "/store/_write.ts").then(({ write }) => write("a.txt", "x")).catch(() => {});`,
    true,
  ],
];

/** Answers questions, and remembers them. */
interface Person {
  asked: string[];
  answer: ApprovalAnswer;
  options: AgentOptions;
}
function person(answer: ApprovalAnswer): Person {
  const one: Person = {
    answer,
    asked: [],
    options: {
      async onApprove({ server, tool, args }) {
        one.asked.push(`${server}.${tool} ${JSON.stringify(args)}`);
        return one.answer;
      },
    },
  };
  return one;
}

describe("a tool that is a file and needs a yes", () => {
  const user = person("no");
  const audited: AuditEvent[] = [];
  const audit: AuditLog = { specificationVersion: "v1", record: (event) => void audited.push(event) };
  const forget = defineTool({ description: "Forget.", execute: () => "forgotten" });
  const agent = agentWith(
    { approvals: ["store.put"], maxMemoryMb: 128 },
    { ...user.options, audit, tools: { store: { forget } } },
  );
  beforeEach(() => {
    user.asked.length = 0;
    user.answer = "no";
  });

  it("is asked about, and does nothing after a no", async () => {
    expect(await outcomeOf(agent, PUT)).toBe("NOT_APPROVED");
    expect([user.asked, written("a.txt")]).toEqual([
      [`store.put ${JSON.stringify({ name: "a.txt", text: "abc" })}`],
      undefined,
    ]);
    user.answer = "once";
    expect(await outcomeOf(agent, PUT)).toEqual({ written: 3 });
    expect(written("a.txt")).toBe("abc");
    const calls = audited.filter(({ type }) => type === "call");
    expect(calls).toMatchObject([{ server: "store", tool: "put", ok: true }]);
  });

  it.each(WAYS)("is not passed by through %s", async (_, code) => {
    await agent.executeCode(code);
    expect(written("a.txt")).toBeUndefined();
  });

  it("has its arguments checked, and is counted as any other", async () => {
    const wrong = PUT.replace(`"abc"`, "3");
    expect(await outcomeOf(agent, wrong)).toBe("ARGUMENTS_INVALID");
    user.answer = "session";
    const many = PUT.replace(
      "return",
      `for (const text of ["1", "2"]) await put({ name: "b.txt", text });\nreturn`,
    );
    const { toolCalls } = await agent.executeCode(many, { session: "one" });
    expect(toolCalls).toHaveLength(3);
    for (const call of toolCalls) expect(call).toMatchObject({ server: "store", tool: "put", ok: true });
    expect(user.asked).toHaveLength(1);
    user.answer = "no";
    expect(await outcomeOf(agent, PUT, { session: "one" })).toEqual({ written: 3 });
    expect(await outcomeOf(agent, PUT, { session: "two" })).toBe("NOT_APPROVED");
  });

  it("leaves the other tools as they are, whatever modules they share with it", async () => {
    user.answer = "once";
    const code = `import { put, get, sum, put_twice, forget } from "./servers/store/index.ts";
import { report } from "./servers/reports/index.ts";
import { double, BASE } from "./servers/other/index.ts";
import { double as same } from "./servers/other/double.ts";
await put({ name: "a.txt", text: "abc" });
return [await get({ name: "a.txt" }), await sum(1), await sum(1, 2), await sum(1, undefined, 3, 4), await put_twice({ name: "b.txt" }),
  await report({ name: "c.txt" }), await double({ value: BASE }), await same({ value: 1 }), await forget()];`;
    expect(await outcomeOf(agent, code)).toEqual(["abc", 10, 2, 80, "!", { written: 6 }, 42, 2, "forgotten"]);
    expect(["b.txt", "b.txt2", "c.txt"].map(written)).toEqual(["1", "2", "report"]);
    expect(user.asked).toHaveLength(4);
  });

  it("shows code its types and its comment, and nothing of what it does", async () => {
    const code = `const folder = "/workspace/servers/store";
const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
return [names.sort(), Deno.readTextFileSync(folder + "/put.ts"), Deno.readTextFileSync(folder + "/sum.ts"), Deno.readTextFileSync(folder + "/index.ts"),
  Array.from(Deno.readDirSync("/workspace/servers"), ({ name }) => name).sort()];`;
    const [names, put, sum, index, servers] = (await outcomeOf(agent, code)) as [
      string[],
      string,
      string,
      string,
      string[],
    ];
    expect(names).toEqual(["get.ts", "index.ts", "put.ts", "put_twice.ts", "sum.ts"]);
    expect(put).toContain("/**\n * Puts a text into a file.\n *\n * It may delete or overwrite");
    expect(put).toContain("export async function put(input: PutInput): Promise<PutOutput>");
    expect(put).not.toContain("write(");
    expect(sum).toContain("sum(first: number, by?: number, ...others: number[]): Promise<number>");
    expect(index).toContain(`export { put } from "./put.ts";`);
    expect(servers).toEqual(["bad", "loop", "other", "people", "reports", "store"]);
  });

  it("is type-checked by its own types", async () => {
    const { error } = await agent.executeCode(PUT.replace(`"abc"`, "3"), { typeCheck: "before" });
    expect(error).toMatchObject({ code: "CODE_MISTYPED", message: expect.stringContaining("text") });
  });

  it("runs in guests of its own session alone, which end with a run that has a guest to itself", async () => {
    user.answer = "once";
    const code = `import { sum } from "./servers/store/index.ts"; return [await sum(1), await sum(2)];`;
    /** The counts once no guest runs, is checked or is on its way out. */
    const settled = async () => {
      await expect.poll(() => agent.sandboxStats?.()?.taken).toBe(0);
      return agent.sandboxStats?.();
    };
    const before = await settled();
    expect(await outcomeOf(agent, code, { session: "one", singleUse: true })).toEqual([10, 20]);
    const after = await settled();
    // Guests of earlier calls of the session are kept, and not taken. Those that are idle for long may have ended meanwhile.
    expect((after?.started ?? 0) - (before?.started ?? 0)).toBeGreaterThanOrEqual(1);
    expect(after?.kept).toBeLessThanOrEqual(before?.kept ?? 0);
  });
});

describe("a tool that is a file and goes wrong", () => {
  it("ends itself alone, and code gets an error that says so", async () => {
    const agent = agentWith({ rateLimits: [{ tools: ["*"], calls: 1_000, per: 60 }], maxMemoryMb: 128 });
    const settle = (calls: string): string => `import * as bad from "./servers/bad/index.ts";
import { again } from "./servers/loop/index.ts";
const ended = await Promise.allSettled([${calls}]);
return ended.map(({ reason }) => [reason?.name, reason?.code, reason?.server + "." + reason?.tool, reason?.message]);`;
    const ended = await outcomeOf(
      agent,
      settle("bad.fail(), bad.leave(), bad.flood(), bad.eat(), bad.odd(), again()"),
    );
    // Alone, and with the longest reserve there is: code has a second to hear of it.
    const hung = await outcomeOf(agent, settle("bad.hang()"), { limits: { timeoutMs: 10_000 } });
    const failed = (tool: string, message: string, code = "TOOL_FAILED") => [
      "ToolError",
      code,
      tool,
      expect.stringMatching(message),
    ];
    expect(ended).toEqual([
      failed("bad.fail", "^bad.fail: out of cheese$"),
      failed("bad.leave", "bad.leave failed: .* exit code 3"),
      failed("bad.flood", "bad.flood was ended: The program printed far more"),
      failed("bad.eat", "bad.eat used more than 128 MiB of memory"),
      failed("bad.odd", "bad.odd failed: .*JSON"),
      failed("loop.again", "more than 8 levels deep"),
    ]);
    expect(hung).toEqual([failed("bad.hang", "bad.hang did not end within", "TOOL_TIMEOUT")]);
  });
});

describe("other guards of tools that are files", () => {
  const user = person("no");
  const limited = agentWith(
    {
      rateLimits: [{ tools: ["store.get"], calls: 2, per: 600 }],
      egress: [{ tools: ["other"], hosts: ["api.example.com"] }],
      blockedTools: ["store.put_twice"],
    },
    user.options,
  );

  it.each([
    [
      "a rate limit",
      `import { sum } from "./servers/store/index.ts"; const { get } = await import("./servers/store/get.ts"); await Deno.writeTextFile("a", "b"); for (let i = 0; i < 3; i += 1) await get({ name: "a" });`,
      "RATE_LIMITED",
    ],
    [
      "a rule for hosts",
      `import { double } from "./servers/other/index.ts"; await double({ value: 1, url: "https://evil.test" } as any);`,
      "TOOL_NOT_ALLOWED",
    ],
    [
      "a list of blocked tools",
      `const { callTool } = await import("./client/index.ts"); await callTool("store", ["put", "twice"].join("_"), { name: "a.txt" });`,
      "TOOL_NOT_ALLOWED",
    ],
    [
      "a list of blocked tools, by a module",
      `const at = "./servers/store/put" + String("_twice.ts"); const module = await import(at); await Object.values(module)[0]({ name: "a.txt" });`,
      "TOOL_NOT_ALLOWED",
    ],
  ])("%s holds", async (_, code, expected) => {
    expect(await outcomeOf(limited, code)).toBe(expected);
    expect(written("a.txt")).toBeUndefined();
  });

  it("do not make tools need a yes that nobody has set", async () => {
    expect(await outcomeOf(limited, PUT)).toEqual({ written: 3 });
    expect(user.asked).toEqual([]);
  });

  it("a rule for the ways of values holds", async () => {
    const agent = agentWith(
      {},
      { config: { privacy: { rules: [{ from: "people", to: "store", action: "deny" }] } } },
    );
    const code = `import { find } from "./servers/people/index.ts"; import { put } from "./servers/store/index.ts";
const { email } = await find({}); return await put({ name: "a.txt", text: TEXT });`;
    expect(await outcomeOf(agent, code.replace("TEXT", "email"))).toBe("FLOW_DENIED");
    expect(written("a.txt")).toBeUndefined();
    expect(await outcomeOf(agent, code.replace("TEXT", `"nothing"`))).toEqual({ written: 7 });
  });

  it("rules and filters of a program hold", async () => {
    const rules = agentWith({}, { rules: [({ tool }) => tool !== "put" || "not today"] });
    expect(await outcomeOf(rules, PUT)).toBe("TOOL_NOT_ALLOWED");
    const filter = agentWith({}, { contentFilter: (text) => (text === "abc" ? "letters" : undefined) });
    expect(await outcomeOf(filter, PUT)).toBe("TOOL_NOT_ALLOWED");
    expect(written("a.txt")).toBeUndefined();
  });

  it("a list of tools that only one run may call holds in that run", async () => {
    const agent = agentWith({});
    const hidden = `const module = await import(["./servers", "store", "put.ts"].join("/")); return await Object.values(module).find((one) => typeof one === "function")({ name: "a.txt", text: "abc" });`;
    const get = `import { get } from "./servers/store/index.ts"; return await get({ name: "a.txt" });`;
    const only = { allowedTools: ["store.get"] };
    expect(await outcomeOf(agent, hidden, only)).toBe("TOOL_NOT_ALLOWED");
    expect(written("a.txt")).toBeUndefined();
    expect(await outcomeOf(agent, hidden)).toEqual({ written: 3 });
    expect(await outcomeOf(agent, get, only)).toBe("abc");
    const helper = `await (await import(["./servers/store", "_write.ts"].join("/"))).write("b.txt", "x");`;
    expect(await outcomeOf(agent, helper, only)).toBe("CODE_THREW");
    expect(await outcomeOf(agent, helper)).toBeNull();
  });

  it("a dry run lists what they would do and does nothing, and a plan allows that and no more", async () => {
    const writes: unknown[] = [];
    const dry = agentWith({}, { onPlannedWrite: (write) => void writes.push(write) });
    expect(await outcomeOf(dry, PUT)).toEqual({ written: 1 });
    await dry.dispose();
    expect(written("a.txt")).toBeUndefined();
    const planned = { server: "store", tool: "put", args: { name: "a.txt", text: "abc" } };
    expect(writes).toEqual([planned]);
    const agent = agentWith({}, { approvedWrites: [planned] });
    expect(await outcomeOf(agent, PUT.replace(`"abc"`, `"abcd"`))).toBe("NOT_APPROVED");
    expect(await outcomeOf(agent, PUT)).toEqual({ written: 3 });
    expect(await outcomeOf(agent, PUT)).toBe("NOT_APPROVED");
  });

  it("refuse to begin where code could reach the files by another way", async () => {
    const mountDirectories = [
      { host: path.join(folder, "servers/store"), guest: "/workspace/mounts/copy", mode: "ro" as const },
    ];
    const agent = agentWith({ approvals: ["writes"] }, { config: { execution: { mountDirectories } } });
    await expect(agent.executeCode("return 1")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("store"),
    });
    const plain = agentWith({}, { config: { execution: { mountDirectories } } });
    expect(await outcomeOf(plain, "return 1")).toBe(1);
  });

  it("hold at the weakest level of isolation, too", async () => {
    const sandboxProvider = createDenoSandboxProvider({ isolation: "permissions", standby: 0 });
    const agent = agentWith({ approvals: ["store.put"] }, { ...user.options, sandboxProvider });
    for (const [way, code] of WAYS) {
      await agent.executeCode(code);
      expect([way, written("a.txt")]).toEqual([way, undefined]);
    }
    user.answer = "once";
    expect(await outcomeOf(agent, PUT)).toEqual({ written: 3 });
  });
});

describe("tools that are files, where no guard concerns them", () => {
  it("run beside the code that calls them", async () => {
    const made: SandboxSpec[] = [];
    const provider = createDenoSandboxProvider({ standby: 0 });
    const sandboxProvider = {
      ...provider,
      name: "deno",
      specificationVersion: "v1" as const,
      probe: provider.probe.bind(provider),
      create: (spec: SandboxSpec) => (made.push(spec), provider.create(spec)),
    };
    const agent = agentWith(
      {},
      {
        sandboxProvider,
        invoker: { specificationVersion: "v1", invoke: () => Promise.reject(new Error("not to be called")) },
      },
    );
    for (const [way, code, works] of WAYS) {
      await agent.executeCode(code);
      expect([way, written("a.txt") !== undefined]).toEqual([way, works]);
      emptyWorkspace();
    }
    expect(made).toHaveLength(1);
    expect(made[0]?.mounts?.map(({ guestPath }) => guestPath)).toEqual([
      "/workspace/servers",
      "/workspace/skills",
    ]);
  });
});
