import type { JsonObject, JsonValue } from "@cem/core";
import { toErrorInfo } from "@cem/core";
import { fromJsonSchema } from "@modelcontextprotocol/client";
import type { Client, JsonSchemaType, Tool } from "@modelcontextprotocol/client";
import { HARMLESS_CALLS } from "./harmless-calls.ts";
import type { CallTool, RemoveFile, ToolAnswer } from "./harmless-calls.ts";

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
