import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SAMPLES, temporaryFolder } from "./testing/run-cem.ts";
import { CEM_COMMAND } from "./testing/spawn-cem.ts";
import { startServing } from "./testing/start-serving.ts";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const inspector = path.join(
  require.resolve("@modelcontextprotocol/inspector/package.json"),
  "../clients/launcher/build/index.js",
);

interface Answer {
  result: {
    tools?: { name: string }[];
    content?: { text: string }[];
    isError?: boolean;
  };
}

/** The inspector's command line: a client that is not ours. The target stands before its options. */
async function inspect(target: readonly string[], ...options: string[]): Promise<Answer["result"]> {
  const args = [
    inspector,
    "--cli",
    ...target,
    "--protocol-era",
    "auto",
    "-q",
    "--format",
    "json",
    ...options,
  ];
  const cwd = temporaryFolder();
  const { stdout } = await run(process.execPath, args, {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd },
  });
  return (JSON.parse(stdout) as Answer).result;
}

async function callTool(
  target: readonly string[],
  name: string,
  args: Record<string, string>,
): Promise<unknown> {
  const given = Object.entries(args).flatMap(([key, value]) => ["--tool-arg", `${key}=${value}`]);
  const { content = [] } = await inspect(target, "--method", "tools/call", "--tool-name", name, ...given);
  return JSON.parse(content[0]?.text ?? "null");
}

const CALLS: readonly [string, Record<string, string>, unknown][] = [
  ["execute_code", { code: "return 6 * 7;" }, { success: true, result: 42, output: "", error: null }],
  [
    "execute_task",
    { task_description: "Calculate 5 + 3" },
    expect.objectContaining({ success: true, result: 8 }),
  ],
  ["list_available_tools", {}, expect.objectContaining({ calculator: expect.arrayContaining(["add"]) })],
  ["list_servers", {}, ["calculator", "database", "filesystem", "weather"]],
  ["get_server_tools", { server_name: "calculator" }, expect.arrayContaining(["add", "divide"])],
  [
    "search_tools",
    { query: "weather", detail_level: "name" },
    expect.objectContaining({ weather: expect.any(Array) }),
  ],
  ["get_state", { state_file: "none.json" }, expect.objectContaining({ exists: false, data: {} })],
  [
    "save_state",
    { state_data: '{"a":1}', state_file: "i.json" },
    expect.objectContaining({ success: true, file: "/workspace/i.json" }),
  ],
  ["list_skills", {}, [expect.objectContaining({ name: "double_number", status: "active" })]],
  ["get_skill", { name: "double_number" }, expect.objectContaining({ description: "Double a number." })],
];

describe("the inspector", { timeout: 120_000 }, () => {
  let serving: Awaited<ReturnType<typeof startServing>>;
  beforeAll(async () => {
    serving = await startServing("http");
  });
  afterAll(() => {
    serving.signal("SIGTERM");
    return serving.ended;
  });

  it("lists and calls every tool over HTTP", async () => {
    const { tools = [] } = await inspect([serving.url], "--method", "tools/list");
    const called = [...CALLS.map(([name]) => name), "read_result", "save_skill"];
    expect(tools.map(({ name }) => name).toSorted()).toEqual(called.toSorted());
    const answers = await Promise.all(CALLS.map(([name, args]) => callTool([serving.url], name, args)));
    expect(answers).toEqual(CALLS.map(([, , answer]) => answer));
  });

  it("is told what is wrong with a handle", async () => {
    const options = [
      "--method",
      "tools/call",
      "--tool-name",
      "read_result",
      "--tool-arg",
      "handle=run-nothing",
    ];
    const failure = await inspect([serving.url], ...options).catch(
      (error: { stdout: string }) => error.stdout,
    );
    expect(JSON.stringify(failure)).toContain("There is no run");
  });

  it("starts cem serve itself and calls over stdio", async () => {
    const [code, state] = await Promise.all(
      ["execute_code", "save_state"].map((name) => {
        const [, args = {}] = CALLS.find(([one]) => one === name) ?? [];
        return callTool([...CEM_COMMAND, "serve", ...SAMPLES], name, args);
      }),
    );
    expect(code).toMatchObject({ result: 42 });
    expect(state).toMatchObject({ success: true });
  });
});
