import { CemError } from "@cem/core";
import type { Agent, JsonValue } from "@cem/core";
import { nearest } from "@cem/core/text";
import type {
  CallToolResult,
  InputRequiredResult,
  ServerContext,
  StandardSchemaV1,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from "@modelcontextprotocol/server";

/** The second argument of a custom tool's handler. */
export interface CustomToolContext<Config = unknown> {
  agent: Agent;
  /** The `config` that the server was created with. */
  config: Config;
  /** Aborts when the client cancels the call or disconnects. */
  signal: AbortSignal;
  /** The request in the protocol's terms, to report progress, to log, to ask the client something or to repeat a round. */
  mcp: ServerContext;
}

/** The answer of a custom tool's handler. */
export type CustomToolAnswer = JsonValue | CallToolResult | InputRequiredResult;

/** A tool that a server offers beside its own. */
export interface CustomTool<Input extends StandardSchemaV1 = StandardSchemaV1, Config = unknown> {
  /** 1 to 128 letters, digits, `_`, `-` and `.`; no other tool of the server has it. */
  name: string;
  title?: string | undefined;
  description: string;
  /**
   * The schema of the input, an object: Zod, or any other Standard Schema. Clients are shown its JSON Schema, or an
   * object of any shape where the schema can't give one. Default: no input.
   */
  inputSchema?: Input | undefined;
  /** The schema of the answer. With it the answer is checked and sent as structured content. */
  outputSchema?: StandardSchemaWithJSON | undefined;
  annotations?: ToolAnnotations | undefined;
  /**
   * Answers with a JSON value, with a complete MCP result (`{ content: […] }`), or with what `inputRequired` of the SDK
   * returns (protocol 2026-07-28). An exception is answered as an error.
   */
  handler(
    input: StandardSchemaV1.InferOutput<Input>,
    context: CustomToolContext<Config>,
  ): Promise<CustomToolAnswer> | CustomToolAnswer;
}

/** A custom tool with any input. */
export type AnyCustomTool<Config = unknown> = CustomTool<StandardSchemaV1, Config>;

/**
 * Checks a custom tool and infers the type of its handler's input from its schema.
 *
 * @example
 * customTool({ name: "double", description: "…", inputSchema: z.object({ n: z.number() }), handler: ({ n }) => n * 2 })
 * @throws CemError `TOOL_INVALID` for a tool of the wrong shape.
 */
export function customTool<Input extends StandardSchemaV1, Config = unknown>(
  tool: CustomTool<Input, Config>,
): CustomTool<Input, Config> {
  assertCustomTool(tool);
  return tool;
}

/** The MCP specification's rule for names of tools. */
const TOOL_NAME = /^[A-Za-z0-9._-]{1,128}$/;
const MAX_SHOWN_CHARACTERS = 60;

interface Requirement {
  needed: string;
  isMet: (value: unknown) => boolean;
}

const TEXT: Requirement = { needed: "a string", isMet: (value) => typeof value === "string" };
const OBJECT: Requirement = { needed: "an object", isMet: isObject };

/** The members of a custom tool and what each has to be. */
const MEMBERS: Readonly<Record<string, Requirement>> = {
  name: {
    needed: "1 to 128 letters, digits, _, - and .",
    isMet: (value) => typeof value === "string" && TOOL_NAME.test(value),
  },
  title: optional(TEXT),
  description: TEXT,
  inputSchema: optional({
    needed: 'a Standard Schema, an object with "~standard"',
    isMet: (value) => typeof standardOf(value)?.["validate"] === "function",
  }),
  outputSchema: optional({
    needed: 'a Standard Schema that gives its JSON Schema, an object with "~standard".jsonSchema',
    isMet: (value) => {
      const standard = standardOf(value);
      return typeof standard?.["validate"] === "function" && isObject(standard["jsonSchema"]);
    },
  }),
  annotations: optional(OBJECT),
  handler: { needed: "a function", isMet: (value) => typeof value === "function" },
};

/**
 * Refuses a tool of the wrong shape, for callers that the compiler did not check.
 *
 * @throws CemError `TOOL_INVALID` that names the tool, the member, what was given and what is needed.
 */
export function assertCustomTool(tool: unknown): void {
  if (!isObject(tool)) {
    const message = `A custom tool is ${shown(tool)}; it has to be an object.`;
    throw new CemError("TOOL_INVALID", message, { details: { given: shown(tool), needed: OBJECT.needed } });
  }
  const title = typeof tool["name"] === "string" ? `Custom tool ${shown(tool["name"])}` : "A custom tool";
  const details = { tool: tool["name"] };
  const names = Object.keys(MEMBERS);
  for (const member of Object.keys(tool)) {
    if (Object.hasOwn(MEMBERS, member)) continue;
    const [near] = nearest(member, names);
    const question =
      near === undefined ? ` Its members are ${names.join(", ")}.` : ` Did you mean "${near}"?`;
    const message = `${title} has an unknown member "${member}".${question}`;
    throw new CemError("TOOL_INVALID", message, {
      details: { ...details, member, nearest: near, known: names },
    });
  }
  for (const [member, { needed, isMet }] of Object.entries(MEMBERS)) {
    const value = tool[member];
    if (isMet(value)) continue;
    const given = shown(value);
    const message = `${title}: "${member}" is ${given}; it has to be ${needed}.`;
    throw new CemError("TOOL_INVALID", message, { details: { ...details, member, given, needed } });
  }
}

function optional({ needed, isMet }: Requirement): Requirement {
  return { needed, isMet: (value) => value === undefined || isMet(value) };
}

/** Objects and functions, which some libraries' schemas are. */
function isObject(value: unknown): value is Record<string, unknown> {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function standardOf(schema: unknown): Record<string, unknown> | undefined {
  const standard = isObject(schema) ? schema["~standard"] : undefined;
  return isObject(standard) ? standard : undefined;
}

function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  // Not imported: every process that loads the package would load half of Node for it.
  const text = process.getBuiltinModule("node:util").inspect(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
