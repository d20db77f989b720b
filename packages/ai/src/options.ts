import type { Agent, Approve, ExecuteOptions, ToolDefinition } from "@cem/core";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

/** The name of the tool that runs code, where a framework takes it from the tool. */
export const EXECUTE_CODE = "execute_code";
/** The name of the tool that searches for tools. */
export const SEARCH_TOOLS = "search_tools";

/** The input of each tool: one text, with what it is. */
const INPUTS = { code: "The program, in TypeScript.", query: "What the tool should do, in words." } as const;
type InputName = keyof typeof INPUTS;

export const SEARCH_DESCRIPTION =
  "Find tools by what they do. The answer has their signatures, to be used in code for execute_code.";

/** The options of a run that a tool passes on: its session, its limits, whom to ask. */
export type RunOptions = Pick<
  ExecuteOptions,
  "allowedTools" | "limits" | "onApprove" | "onElicit" | "onEvent" | "session" | "singleUse" | "typeCheck"
>;

/** Options of every tool that runs code, for frameworks that ask for approvals. */
export interface ApprovedCodeOptions {
  /**
   * The topic of the conversation, in words. The signatures of the tools closest to it come first.
   *
   * @defaultValue some tools of each server
   */
  task?: string | undefined;
  /**
   * The most tokens that the signatures in the description may have. 0: the description has none.
   *
   * @defaultValue 2,000
   */
  signatureTokens?: number | undefined;
  /** Options of each run. */
  run?: RunOptions | undefined;
  /**
   * Whether the model is shown images and files that a result refers to.
   *
   * @defaultValue true
   */
  attachments?: boolean | undefined;
  /**
   * Which code needs a yes. What was approved may call each tool that it calls by its name; a call of another one that needs a
   * yes goes to `run.onApprove`, else it is refused.
   *
   * @defaultValue false
   */
  needsApproval?: NeedsApproval | undefined;
}

/** Options of tools that run code, for `openai`, which has no means of asking before: `run.onApprove` is asked. */
export interface ExecuteCodeOptions extends ApprovedCodeOptions {
  needsApproval?: false | undefined;
}

/**
 * Which code a person sees, by the framework's own means, before it runs. `destructive`: code that calls a tool annotated as
 * destructive by its name. `true`: all code.
 */
export type NeedsApproval = boolean | "destructive" | ((code: string) => boolean | Promise<boolean>);

/** Options of every tool that searches for tools. */
export interface SearchToolsOptions {
  /**
   * The most tools that are found.
   *
   * @defaultValue 10
   */
  limit?: number | undefined;
}

/** Whether a person has to approve code before it runs. */
export async function needsYes(agent: Agent, code: string, { needsApproval = false }: ApprovedCodeOptions) {
  if (typeof needsApproval === "boolean") return needsApproval;
  if (typeof needsApproval === "function") return needsApproval(code);
  return callsOneOf(agent, code, ({ annotations: { destructiveHint, readOnlyHint } = {} }) => {
    return destructiveHint === true && readOnlyHint !== true;
  });
}

/**
 * Answers the questions of a run whose code a person has approved: yes to what the code calls. A tool that it reaches in
 * another way, under a name put together at run time or inside a skill, was not seen by that person.
 */
export function approveCalled(agent: Agent, code: string, onApprove: Approve | undefined): Approve {
  return async (request) => {
    const isAsked = ({ server, name, originalName = name }: ToolDefinition): boolean =>
      server === request.server && originalName === request.tool;
    if (await callsOneOf(agent, code, isAsked)) return "once";
    return onApprove === undefined ? "no" : onApprove(request);
  };
}

/** Whether code calls one of these tools by its name, or hands it on to be called. Read as the agent reads it. */
async function callsOneOf(agent: Agent, code: string, isMeant: (tool: ToolDefinition) => boolean) {
  const tools = (await agent.discoverTools()).servers.flatMap((server) => server.tools);
  // Every word that could be a name.
  const words = new Set(code.match(/[\p{ID_Continue}$]+/gu));
  const named = tools.filter((tool) => words.has(tool.name) && isMeant(tool));
  if (named.length === 0) return false;
  const { addMissingImports, importRequired, withoutFence } = await import("@cem/program");
  const { createGuard } = await import("@cem/guardrails");
  const program = addMissingImports(importRequired(withoutFence(code)), tools).code;
  const guard = createGuard({ securityChecks: false, isAllowed: () => "it is looked for" });
  const { findings } = await guard.review({ code: program, tools: named });
  return findings.some(({ rule }) => rule === "tool-not-allowed");
}

/** The JSON Schema of an object with one text, strict enough for every provider. */
export interface TextInputJsonSchema<Name extends InputName> {
  type: "object";
  properties: Record<Name, { type: "string"; description: string }>;
  required: Name[];
  additionalProperties: false;
  [keyword: string]: unknown;
}

/** A Standard Schema that also tells its JSON Schema, which is all that a framework needs of an input. */
export interface TextInputSchema<Name extends InputName> {
  readonly "~standard": StandardSchemaV1.Props<Record<Name, string>> &
    StandardJSONSchemaV1.Props<Record<Name, string>>;
}

/** Describes an object with one text, as JSON Schema. */
export function textInputJsonSchema<Name extends InputName>(name: Name): TextInputJsonSchema<Name> {
  const description: string = INPUTS[name];
  return {
    type: "object",
    properties: { [name]: { type: "string", description } } as TextInputJsonSchema<Name>["properties"],
    required: [name],
    additionalProperties: false,
  };
}

/** Describes an object with one text, as a Standard Schema. */
export function textInputSchema<Name extends InputName>(name: Name): TextInputSchema<Name> {
  const jsonSchema = (): TextInputJsonSchema<Name> => textInputJsonSchema(name);
  return {
    "~standard": {
      version: 1,
      vendor: "cem",
      validate(value) {
        const text = textIn(value, name);
        if (text !== undefined) return { value: { [name]: text } as Record<Name, string> };
        return { issues: [{ message: `An object with a string "${name}" is needed.`, path: [name] }] };
      },
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  };
}

/** The text that a model gave, if it is one. */
export function textIn(input: unknown, name: InputName): string | undefined {
  const text: unknown = typeof input === "object" && input !== null ? Reflect.get(input, name) : undefined;
  return typeof text === "string" ? text : undefined;
}
