import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Agent, AgentEvent, ExecuteOptions, TaskResult, TypeChecker } from "@cem/core";
import { createTypeChecker } from "@cem/type-check";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startChatServer } from "../../codegen/fixtures/chat-server.ts";
import type {
  ChatRequest,
  ChatServer,
  ChatServerSettings,
  Reply,
} from "../../codegen/fixtures/chat-server.ts";
import { createAgent } from "./create-agent.ts";
import type { AgentOptions } from "./options.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const KEY = "sk-test-0123456789abcdef";
const TASK = "Calculate 5 + 3 and get weather for San Francisco";

const GOOD = `import { add } from "./servers/calculator/index.ts";
import { get_weather } from "./servers/weather/index.ts";

const [sum, weather] = await Promise.all([add({ a: 5, b: 3 }), get_weather({ location: "San Francisco" })]);
export default { sum, where: weather.location };`;
const VALUE = { sum: 8, where: "San Francisco" };

let folder: string;
let typeChecker: TypeChecker;
let server: ChatServer;
let agent: Agent;

function program(code: string): Reply {
  return { text: `\`\`\`ts\n${code}\n\`\`\`` };
}

interface StartOptions extends AgentOptions {
  llm?: NonNullable<AgentOptions["config"]>["llm"];
  serversDir?: string;
}

/** An agent that asks a model which answers with these programs, one after another. */
async function start(
  replies: ChatServerSettings["replies"],
  { llm = {}, serversDir = path.join(root, "servers"), ...stages }: StartOptions = {},
): Promise<void> {
  server = await startChatServer({ replies });
  agent = createAgent({
    configFile: false,
    typeChecker,
    config: {
      execution: {
        workspaceDir: path.join(folder, "workspace"),
        serversDir,
        skillsDir: path.join(root, "skills"),
      },
      optimizations: { toolCacheFile: path.join(folder, "tools.json"), sandboxPooling: false },
      llm: { enabled: true, baseUrl: `${server.origin}/v1`, apiKey: KEY, maxRetries: 0, ...llm },
    },
    ...stages,
  });
}

async function run(
  task = TASK,
  options: ExecuteOptions = {},
): Promise<TaskResult & { events: AgentEvent[] }> {
  const events: AgentEvent[] = [];
  const result = await agent.executeTask(task, { ...options, onEvent: (event) => events.push(event) });
  expect(JSON.stringify([result, events])).not.toContain(KEY);
  return { ...result, events };
}

/** Code as it is in a line of the log. */
function oneLine(code: string): string {
  return code.trimEnd().replaceAll("\n", " | ");
}

/** The last message of a request: what went wrong the time before. */
function told(request: ChatRequest | undefined): string {
  return request?.body.messages.at(-1)?.content ?? "";
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-llm-"));
  const serversDir = path.join(root, "servers");
  typeChecker = createTypeChecker({ serversDir, skillsDir: path.join(root, "skills") });
});

afterEach(async () => {
  await agent.dispose();
  await server.close();
});

afterAll(async () => {
  await typeChecker.dispose();
  await rm(folder, { recursive: true, force: true });
});

describe("executeTask with a model", () => {
  it("runs what the model wrote at its first try, and tells what it cost", async () => {
    await start([program(GOOD)], { llm: { priceInput: 1, priceOutput: 4 } });
    const result = await run();
    expect(result).toMatchObject({
      status: "success",
      value: VALUE,
      origin: "llm",
      attempts: 1,
      code: `${GOOD}\n`,
    });
    expect(result.usage).toMatchObject({ model: "gpt-4o-mini", requests: 1 });
    expect(result.usage?.cost).toBeGreaterThan(0);
    expect(result.contextTokens.spent).toBe(
      (result.usage?.inputTokens ?? 0) + (result.usage?.outputTokens ?? 0),
    );
    expect(result.events.filter(({ type }) => type === "generating").length).toBeGreaterThan(2);
    expect(server.requests[0]?.body.messages[1]?.content).toContain("get_weather(input: { location: string");
  });

  it("tells the model of a type error, with the place and the nearest name, before anything ran", async () => {
    await start([program(GOOD.replace("get_weather({ location", "get_weather({ place")), program(GOOD)]);
    const result = await run();
    expect(result).toMatchObject({ status: "success", value: VALUE, attempts: 2 });
    expect(result.toolCalls).toHaveLength(2);
    expect(told(server.requests[1])).toMatch(
      /It was not run:[\s\S]*Line 4: get_weather: Object literal may only specify known properties, and 'place' does not exist .* It takes \{ location: string/u,
    );
    expect(result.events.filter(({ type }) => type === "repairing")).toMatchObject([{ attempt: 2 }]);
    expect(result.usage?.requests).toBe(2);
  });

  it("tells the model of what the guard found", async () => {
    await start([
      program(`import { execSync } from "node:child_process";\nexport default execSync("id");`),
      program(GOOD),
    ]);
    expect(await run()).toMatchObject({ status: "success", value: VALUE, attempts: 2 });
    expect(told(server.requests[1])).toContain("node:child_process can't be used");
  });

  it("tells the model of a run that failed, and of what it did, so that a write is not repeated", async () => {
    await mkdir(path.join(folder, "workspace"), { recursive: true });
    const write = `import { write_file } from "./servers/filesystem/index.ts";\nawait write_file({ path: "once.txt", content: "one" });\n`;
    const again = (request: ChatRequest): Reply => {
      const wrote = /filesystem\.write_file\(\{"path":"once\.txt","content":"one"\}\) →/u.test(told(request));
      return program(wrote ? "export default 'left as it is';" : `${write}export default 'wrote again';`);
    };
    await start([program(`${write}console.log("written");\nthrow new Error("and then?");`), again]);
    const result = await run("Write 'one' to once.txt");
    expect(result).toMatchObject({ status: "success", value: "left as it is", attempts: 2 });
    expect(result.toolCalls).toMatchObject([{ server: "filesystem", tool: "write_file", ok: true }]);
    expect(Object.keys(result.toolCalls[0] ?? {})).toEqual([
      "server",
      "tool",
      "ms",
      "ok",
      "startMs",
      "place",
    ]);
    expect(told(server.requests[1])).toMatch(/threw Error: and then\?[\s\S]*written/u);
    expect(await readFile(path.join(folder, "workspace/once.txt"), "utf8")).toBe("one");
  });

  it("stops when an error repeats", async () => {
    const bad = GOOD.replace("location:", "place:");
    await start([program(bad), program(`// Another try.\n${bad}`), program(GOOD)], {
      llm: { maxRepairs: 5 },
    });
    const result = await run();
    expect(result).toMatchObject({ status: "refused", attempts: 2, error: { code: "CODE_MISTYPED" } });
    expect(result.error?.message).toMatch(/^Line 5: .* Nothing was run\.$/u);
    expect(server.requests).toHaveLength(2);
  });

  it("stops after as many repairs as it may make", async () => {
    const broken = (n: number): Reply => program(`throw new Error("problem ${"abcdef"[n]}");`);
    await start([broken(0), broken(1), broken(2)], { llm: { maxRepairs: 1 } });
    expect(await run()).toMatchObject({ status: "error", attempts: 2, error: { message: /problem b/u } });
  });

  it("asks no more when the budget of the task is spent, and says so", async () => {
    await start([program("throw new Error('once');"), program(GOOD)], { llm: { budgetTokens: 1_300 } });
    const result = await run();
    expect(result).toMatchObject({
      status: "error",
      origin: "llm",
      attempts: 1,
      error: { code: "CODE_THREW" },
    });
    expect(result.notes?.join()).toContain("would exceed the task's budget of 1,300 tokens");
    expect(server.requests).toHaveLength(1);
  });

  it("leaves it to the rules when the budget is spent before anything ran", async () => {
    await start([program(GOOD.replace("location:", "place:"))], { llm: { budgetTokens: 1_300 } });
    const result = await run();
    expect(result).toMatchObject({ status: "success", origin: "rules", value: { sum: 8 } });
    expect(result.notes?.join()).toContain("written by rules instead");
    expect(result.usage?.requests).toBe(1);
  });

  it("is told of a small catalog as a whole, with comments, and of the data that the task names", async () => {
    await mkdir(path.join(folder, "workspace/data"), { recursive: true });
    await writeFile(
      path.join(folder, "workspace/data/sales.csv"),
      "day,region,amount\n2026-01-03,north,120.5\n",
    );
    await writeFile(path.join(folder, "workspace/people.json"), '[{"name":"Ada","tags":["x"]}]');
    await writeFile(path.join(folder, "workspace/secrets.txt"), "hush");
    const task =
      "Sum data/sales.csv and people.json and secrets.txt and ../out.txt and compare with the orders table";
    await start([program("export default 1;")]);
    const result = await run(task);
    const content = server.requests[0]?.body.messages[1]?.content ?? "";
    expect(content).toContain("days?: number /* integer 1–31");
    expect(content.match(/^type Condition = /gmu)).toHaveLength(1);
    expect(content).toMatch(/Tables of database: orders\(id INTEGER, user_id INTEGER, .*\)\nproducts\(/u);
    expect(content).toContain(
      "data/sales.csv (41 bytes) begins:\n  day,region,amount\n  2026-01-03,north,120.5",
    );
    expect(content).toContain("people.json: 1 items, { name: string, tags: string[] }[]");
    expect(content).not.toMatch(/hush|out\.txt \(/u);
    // A read for the model is no call of the task.
    expect(result.toolCalls).toEqual([]);
    expect(result.selectionNotes?.join()).toMatch(/the model is told of 1\d/u);
    await agent.dispose();
    await server.close();
    await start([program("export default 1;")], { llm: { dataFacts: false, toolTokens: 1 } });
    await run(task);
    const less = server.requests[0]?.body.messages[1]?.content ?? "";
    expect(less).not.toContain("The data:");
    expect(less).not.toContain("get_forecast");
  });

  it("runs a call whose arguments satisfy the schema without a check of types, and checks any other", async () => {
    const checked: string[] = [];
    const counting: TypeChecker = {
      ...typeChecker,
      specificationVersion: "v1",
      prepare: () => void checked.push("prepared"),
      check: async (request) => {
        checked.push(request.code);
        return typeChecker.check(request);
      },
      dispose: async () => {},
    };
    const call = (args: string): Reply => ({ text: `CALL calculator.add ${args}` });
    await start([call('{"a":5,"b":3}')], { typeChecker: counting });
    expect(await run("What is 5 and 3?")).toMatchObject({ status: "success", value: 8, attempts: 1 });
    expect(checked).toEqual([]);
    await agent.dispose();
    await server.close();
    await start([call('{"a":5,"b":"3"}'), call('{"a":5,"c":3}'), call('{"a":5,"b":3}')], {
      typeChecker: counting,
    });
    expect(await run("What is 5 and 3?")).toMatchObject({ status: "success", value: 8, attempts: 3 });
    expect(checked).toHaveLength(2);
    expect(told(server.requests[1])).toContain("add.b: Type 'string' is not assignable to type 'number'.");
    expect(told(server.requests[2])).toMatch(/add: Object literal .* '"c"' does not exist/u);
  });

  it("names the refused expression, its type and the expected one", async () => {
    const wrong = `import { add } from "./servers/calculator/index.ts";
import { get_weather } from "./servers/weather/index.ts";
const sum = await add({ a: 5, b: 3 });
export default await get_weather({ location: sum });`;
    await start([program(wrong), program(GOOD)]);
    expect(await run()).toMatchObject({ status: "success", attempts: 2 });
    expect(told(server.requests[1])).toContain(
      "get_weather.location: Type 'number' is not assignable to type 'string'.\n  export default await get_weather({ location: sum });",
    );
  });

  it("tells of fields that the program's own objects lack, also for given code", async () => {
    const code = `const commits = ["a|b"].map((line) => {
  const [hash, author] = line.split("|");
  return { hash, author };
});
export default commits.map((c) => ({ hash: c.hash, when: c.date }));`;
    await start([program(code)]);
    const note = "Line 5: Property 'date' does not exist on type '{ hash: string; author: string; }'.";
    expect(await run("Do something")).toMatchObject({ status: "success", attempts: 1, notes: [note] });
    expect(await agent.executeCode(code)).toMatchObject({ status: "success", notes: [note] });
  });

  it.each([
    ["fails", { status: 503, error: { message: "down for maintenance" } }, "LLM_FAILED", "failed (503)"],
    ["answers with nonsense", { text: "I like turtles." }, "LLM_ANSWER_UNUSABLE", "holds no program"],
  ] as const)(
    "falls back to the rules when the model %s, and logs the code",
    async (_, reply, code, said) => {
      const log: string[] = [];
      await start([reply, reply], { onLog: (line) => void log.push(line) });
      const result = await run("Calculate 5 + 3");
      expect(result).toMatchObject({ status: "success", origin: "rules", value: 8 });
      expect(result.notes).toEqual([expect.stringMatching(/ The code was written by rules instead\.$/u)]);
      expect(result.notes?.join()).toContain(said);
      await run('Write "ada@example.com" to mail.txt');
      const warnings = log.filter((line) => line.includes("WARNING"));
      expect(warnings[0]).toContain(`The model wrote no code (${code}): `);
      expect(warnings[0]).toContain(`Rules wrote the code instead: ${oneLine(result.code)}`);
      expect(warnings[1]).toContain("mail.txt");
      expect(log.join()).not.toContain("ada@example.com");
    },
  );

  it("refuses when the model can't do the task with these tools", async () => {
    await start([{ text: "CANNOT: no tool calculates" }, { text: "CANNOT: no tool calculates" }]);
    expect(await run()).toMatchObject({
      status: "refused",
      origin: "llm",
      error: { code: "NO_TOOL", message: /no tool calculates/u },
    });
  });
});

describe("executeCode with types", () => {
  it("refuses code that a tool would not understand, unless told not to look", async () => {
    await start([]);
    const code = GOOD.replace("add({ a: 5, b: 3 })", "add({ a: 5, c: 3 })");
    const refused = await agent.executeCode(code);
    expect(refused).toMatchObject({
      status: "refused",
      error: { code: "CODE_MISTYPED", details: { line: 4 } },
    });
    expect(refused.error?.message).toMatch(/add: .* 'c' does not exist in type/u);
    const ran = await agent.executeCode(code, { typeCheck: "off" });
    expect(ran.status).toBe("error");
    expect(ran.error?.message).not.toBe(refused.error?.message);
  });

  it("knows every global of the guest", async () => {
    await start([]);
    const names = await agent.executeCode(
      "export default Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Za-z]\\w*$/.test(name));",
      { typeCheck: "off" },
    );
    const globals = names.value as string[];
    expect(globals.length).toBeGreaterThan(150);
    const findings = await typeChecker.check({
      code: globals.map((name) => `${name};`).join("\n"),
      tools: [],
    });
    expect(findings.map(({ message }) => message)).toEqual([]);
  });
});
