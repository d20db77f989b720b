import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { runCem, SAMPLES, temporaryFolder } from "./testing/run-cem.ts";
import type { Ended } from "./testing/run-cem.ts";

let cwd: string;
beforeAll(() => {
  cwd = temporaryFolder();
});

const [servers = "", serversDir = ""] = SAMPLES;
const cem = (...args: string[]): Promise<Ended> => runCem([...args, servers, serversDir], { cwd });

describe("cem runs", () => {
  it("lists none, with how to begin one, and says what is missing", async () => {
    expect((await cem("runs")).stdout).toContain("No run is recorded here yet.");
    const none = await cem("runs", "show", "run-x");
    expect([none.code, none.stderr]).toEqual([
      1,
      expect.stringContaining("See which there are with  cem runs"),
    ]);
    expect(await cem("runs", "replay")).toMatchObject({ code: 2 });
    const broken = temporaryFolder();
    mkdirSync(path.join(broken, ".cem"));
    writeFileSync(path.join(broken, ".cem/runs"), "");
    expect((await runCem(["runs"], { cwd: broken })).stderr).toContain("for records of runs, runs.dir");
    expect(await cem("runs", "--since", "soon")).toMatchObject({ code: 2 });
  });

  it("lists, shows and replays what earlier processes ran", async () => {
    writeFileSync(path.join(cwd, "fails.ts"), `throw new Error("The pump is broken");`);
    expect(await cem("run", "Calculate 5 + 3")).toMatchObject({ code: 0 });
    expect((await cem("exec", "fails.ts")).code).not.toBe(0);
    const { runs } = JSON.parse((await cem("runs", "--json")).stdout) as {
      runs: { id: string; status: string }[];
    };
    expect(runs).toMatchObject([
      { kind: "code", status: "error" },
      { kind: "task", status: "success", title: "Calculate 5 + 3", calls: 1, isolation: expect.any(String) },
    ]);
    const found = await cem("runs", "--status", "error", "--text", "PUMP", "--since", "1h", "--quiet");
    expect(found.stdout.trim()).toBe(runs[0]?.id);
    expect((await cem("runs", "--since", "2999-01-01")).stdout).toContain("No recorded run matches.");

    const id = runs[1]?.id ?? "";
    const shown = (await cem("runs", "show", id)).stdout;
    expect(shown).toMatch(/status +success/u);
    expect(shown).toContain("calculator.calculate");
    expect(shown).toContain("import { calculate }");
    const again = await cem("runs", "replay", id, "--recorded", "--json");
    expect(again.stderr).toBe("");
    expect(JSON.parse(again.stdout)).toMatchObject({ status: "success", value: 8 });
    const told = await cem("runs", "replay", id, "--recorded");
    expect(told.stderr).toContain(`Running the code of ${id} again`);
  });

  it("changes nothing where calls are answered as recorded", async () => {
    const code = `const file = "/workspace/count.txt";\nconst count = await Deno.readTextFile(file).then(Number, () => 0);\nawait Deno.writeTextFile(file, String(count + 1));\nreturn count;`;
    writeFileSync(path.join(cwd, "counts.ts"), code);
    expect((await cem("exec", "counts.ts")).code).toBe(0);
    const [before] = JSON.parse((await cem("runs", "--json")).stdout).runs as { id: string }[];
    const again = await cem("runs", "replay", "last", "--recorded", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ status: "success", value: 1 });
    expect(readFileSync(path.join(cwd, "workspace/count.txt"), "utf8")).toBe("1");
    const [last] = JSON.parse((await cem("runs", "--json")).stdout).runs as { id: string }[];
    expect(last).toEqual(before);
  });

  it("has the code and the calls of workflows", async () => {
    const step = `{ name: sum, type: tool_call, config: { tool: calculator.add, arguments: { a: 1, b: 2 } } }`;
    writeFileSync(path.join(cwd, "sum.yaml"), `name: sum\nsteps: [${step}]\n`);
    const { run } = JSON.parse((await cem("workflow", "run", "sum.yaml", "--json")).stdout) as {
      run: string;
    };
    expect((await cem("workflow", "resume", run)).code).toBe(0);
    const [last] = JSON.parse((await cem("runs", "--json")).stdout).runs as { title: string }[];
    expect(last).toMatchObject({ kind: "code", calls: 1, title: expect.stringContaining("add") as string });
  });

  it("says where recorded answers have tokens in the place of what the code got then", async () => {
    const folder = temporaryFolder();
    const server = `process.stdin.on("data", (text) => {
      for (const line of String(text).trim().split("\\n")) {
        const { id, method } = JSON.parse(line);
        const results = {
          initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "people", version: "1" } },
          "tools/list": { tools: [{ name: "get", inputSchema: { type: "object" } }] },
          "tools/call": { content: [{ type: "text", text: "ada@example.com" }] },
        };
        if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }));
      }
    });`;
    writeFileSync(path.join(folder, "people.mjs"), server);
    const config = JSON.stringify({ mcpServers: { people: { command: "node", args: ["people.mjs"] } } });
    writeFileSync(path.join(folder, "config.yaml"), config);
    const code = `import { get } from "./servers/people/index.ts";\nreturn String(await get({})).endsWith("example.com");`;
    writeFileSync(path.join(folder, "gets.ts"), code);
    const env = { CEM_TRUST_FOLDER: "1" };
    const first = await runCem(["exec", "gets.ts", "--json"], { cwd: folder, env });
    expect(JSON.parse(first.stdout)).toMatchObject({ value: true });
    const again = await runCem(["runs", "replay", "last", "--recorded", "--json"], { cwd: folder, env });
    expect(JSON.parse(again.stdout)).toMatchObject({
      value: false,
      notes: [expect.stringContaining("1 recorded answer held personal data")],
    });
  });

  it("replays calls of tools that are files, also of those that may change something", async () => {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, "servers/desk"), { recursive: true });
    const tool = `/** Books a desk. */\nexport async function book(input: { desk: number }): Promise<string> {\n  return \`desk \${input.desk}\`;\n}\n`;
    writeFileSync(path.join(folder, "servers/desk/book.ts"), tool);
    const code = `import { book } from "./servers/desk/book.ts";\nreturn await book({ desk: 4 });`;
    writeFileSync(path.join(folder, "books.ts"), code);
    expect((await runCem(["exec", "books.ts"], { cwd: folder })).code).toBe(0);
    const again = await runCem(["runs", "replay", "last", "--recorded", "--json"], { cwd: folder });
    expect(JSON.parse(again.stdout)).toMatchObject({ status: "success", value: "desk 4" });
  });
});
