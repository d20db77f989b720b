import { toErrorInfo } from "@cem/core";
import type { JsonObject, JsonValue } from "@cem/core";
import { fromJsonSchema } from "@modelcontextprotocol/client";
import type { Client, JsonSchemaType, Tool } from "@modelcontextprotocol/client";

const TOOL_NAME = /^[\w.-]{1,128}$/u;
const UNKNOWN_ARGUMENT = { no_tool_has_this_argument: true };

const NOT_LISTED: ToolAnswer = { isError: true, data: undefined, text: "It is not listed." };

/** The verdict on one tool. */
export interface ToolVerdict {
  tool: string;
  /** `listed`: all is well with how it is listed, and it was not called, since nobody here knows what it would do. */
  state: "passed" | "listed" | "failed";
  /** Problems, one sentence each. */
  problems: string[];
  /** How long its call took. */
  ms?: number | undefined;
}

/** Lists the tools of a server, and calls each that the server has by itself with something harmless. */
export async function verifyTools(
  client: Client,
  remove: RemoveFile,
  signal: AbortSignal,
): Promise<ToolVerdict[]> {
  const { tools } = await client.listTools(undefined, { signal });
  const call: CallTool = async (name, args) => {
    if (!tools.some((tool) => tool.name === name)) return NOT_LISTED;
    const { isError, structuredContent, content } = await client.callTool(
      { name, arguments: args },
      { signal },
    );
    const text = content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join("\n");
    return { isError: isError === true, data: unwrapped(structuredContent as JsonValue | undefined), text };
  };
  const verdicts: ToolVerdict[] = [];
  // One after another: the time of each is its own.
  for (const tool of tools) {
    verdicts.push(await verifyTool(tool, call, remove));
    signal.throwIfAborted();
  }
  return verdicts;
}

/** In the older protocol what is structured is an object: a list stands in one. */
function unwrapped(data: JsonValue | undefined): JsonValue | undefined {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return data;
  const { result } = data;
  return Object.keys(data).length === 1 && Array.isArray(result) ? result : data;
}

async function verifyTool(tool: Tool, call: CallTool, remove: RemoveFile): Promise<ToolVerdict> {
  const { name } = tool;
  const problems = problemsOfListing(tool);
  const prepare = HARMLESS_CALLS[name];
  try {
    problems.push(...(await problemsOfRefusal(tool, call)));
    if (prepare === undefined) return verdict(name, problems, "listed");
    const { args, judge, cleanUp } = await prepare(call, remove);
    problems.push(...(await problemsOfArguments(tool, args)));
    const started = performance.now();
    const answer = await call(name, args);
    const ms = performance.now() - started;
    const wrong = judge(answer);
    if (wrong !== undefined) problems.push(wrong);
    await cleanUp?.();
    return { ...verdict(name, problems, "passed"), ms };
  } catch (thrown) {
    return verdict(name, [...problems, toErrorInfo(thrown).message], "failed");
  }
}

function verdict(tool: string, problems: string[], state: ToolVerdict["state"]): ToolVerdict {
  return { tool, state: problems.length === 0 ? state : "failed", problems };
}

function problemsOfListing({ name, description = "", inputSchema }: Tool): string[] {
  return [
    ...(TOOL_NAME.test(name) ? [] : ["Its name is none that clients take."]),
    ...(description.trim() === "" ? ["It has no description."] : []),
    ...(inputSchema.type === "object" ? [] : ["Its input schema is not of an object."]),
  ];
}

/** The schema that clients see must take what the tool takes. */
async function problemsOfArguments({ inputSchema }: Tool, args: JsonObject): Promise<string[]> {
  const result = await fromJsonSchema(inputSchema as JsonSchemaType)["~standard"].validate(args);
  const issues = result.issues ?? [];
  return issues.map(({ message }) => `Its schema refuses what it takes: ${message}.`);
}

/** A tool whose schema names its arguments refuses others. */
async function problemsOfRefusal({ name, inputSchema }: Tool, call: CallTool): Promise<string[]> {
  if (!(name in HARMLESS_CALLS) && inputSchema["additionalProperties"] !== false) return [];
  const refused = await call(name, UNKNOWN_ARGUMENT).then(
    ({ isError }) => isError,
    // The protocol's own error is a refusal too.
    () => true,
  );
  return refused ? [] : ["It takes an argument that it does not have."];
}

/** The answer of a tool. */
export interface ToolAnswer {
  isError: boolean;
  /** Its structured content. */
  data: JsonValue | undefined;
  text: string;
}

/** Calls a tool of the server. Of one that is not listed the answer is an error. */
export type CallTool = (name: string, args: JsonObject) => Promise<ToolAnswer>;

/** Removes a file of the workspace where no tool of the server can. */
export type RemoveFile = (file: string) => Promise<void>;

/** A call that changes nothing for long, with what is wrong about its answer: `undefined` where nothing is. */
interface HarmlessCall {
  args: JsonObject;
  judge: (answer: ToolAnswer) => string | undefined;
  /** Takes back what the call left. */
  cleanUp?: (() => Promise<void>) | undefined;
}

const STATE_FILE = "cem-verify.json";
const MARK = { verified_by: "cem verify" };
/** Beyond what an answer holds, so that it comes as a handle. */
const LARGE = `return "x".repeat(40_000);`;
const TEST_FAILS = "as cem verify wants it";
const BROKEN_SKILL = {
  name: "cem_verify",
  description: "Never kept: its test fails.",
  code: "export function one(): number {\n  return 1;\n}\n",
  test: `import { one } from "./skills/cem_verify/index.ts";\nif (one() !== 2) throw new Error("${TEST_FAILS}");\n`,
};

/** The harmless call of each tool that a server has by itself. It may call other tools to find what to ask for. */
const HARMLESS_CALLS: Readonly<
  Record<string, (call: CallTool, remove: RemoveFile) => Promise<HarmlessCall>>
> = {
  execute_code: () => plain({ code: "return 6 * 7;" }, ({ data }) => at(data, "result") === 42),
  execute_task: () =>
    plain({ task_description: "Calculate 2 + 3" }, ({ data }) => JSON.stringify(data).includes("5")),
  read_result: async (call, remove) => {
    const { data } = await call("execute_code", { code: LARGE });
    const handle = at(at(data, "result"), "path");
    if (typeof handle !== "string") return refused({ handle: "results/none.json" });
    const read = await plain({ handle, limit: 8 }, ({ text }) => text.includes("xxx"));
    return { ...read, cleanUp: () => removeFile(handle, call, remove) };
  },
  search_tools: () => plain({ query: "add two numbers" }, ({ data }) => data !== undefined),
  list_available_tools: () => plain({}, ({ data }) => isObject(data)),
  list_servers: () => plain({}, ({ data }) => Array.isArray(data)),
  get_server_tools: async (call) => {
    const { data } = await call("list_servers", {});
    const [server_name] = Array.isArray(data) ? data : [];
    if (typeof server_name !== "string") return refused({ server_name: "none" });
    return plain({ server_name }, (answer) => Array.isArray(answer.data));
  },
  save_state: async (call, remove) => ({
    ...(await plain(
      { state_data: MARK, state_file: STATE_FILE },
      ({ data }) => at(data, "success") === true,
    )),
    cleanUp: () => removeFile(STATE_FILE, call, remove),
  }),
  get_state: async (call, remove) => {
    await call("save_state", { state_data: MARK, state_file: STATE_FILE });
    return {
      ...(await plain(
        { state_file: STATE_FILE },
        ({ data }) => at(at(data, "data"), "verified_by") === MARK.verified_by,
      )),
      cleanUp: () => removeFile(STATE_FILE, call, remove),
    };
  },
  list_skills: () => plain({}, ({ data }) => Array.isArray(data)),
  get_skill: async (call) => {
    const { data } = await call("list_skills", {});
    const name = at(Array.isArray(data) ? data[0] : undefined, "name");
    if (typeof name !== "string") return refused({ name: "none" });
    return plain({ name }, (answer) => at(answer.data, "name") === name);
  },
  // It is reviewed, checked and tested like any other, and its test fails: nothing is kept.
  save_skill: () => Promise.resolve(refused(BROKEN_SKILL, TEST_FAILS)),
};

function plain(args: JsonObject, isRight: (answer: ToolAnswer) => boolean): Promise<HarmlessCall> {
  const judge = (answer: ToolAnswer): string | undefined => {
    if (answer.isError) return `It failed: ${answer.text}`;
    return isRight(answer) ? undefined : `It answered something else: ${answer.text}`;
  };
  return Promise.resolve({ args, judge });
}

/** A call whose right answer is an error that says why. */
function refused(args: JsonObject, reason = ""): HarmlessCall {
  return {
    args,
    judge: ({ isError, text }) => {
      if (!isError) return `It should have been refused: ${text}`;
      return text !== "" && text.includes(reason) ? undefined : `It was refused, but not for that: ${text}`;
    },
  };
}

async function removeFile(file: string, call: CallTool, remove: RemoveFile): Promise<void> {
  const name = file.replace(/^\/workspace\//u, "");
  const { isError } = await call("execute_code", { code: `await Deno.remove(${JSON.stringify(name)});` });
  if (isError) await remove(name);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function at(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isObject(value) ? value[key] : undefined;
}
