import type { Agent, Approve, ExecuteOptions, ToolDefinition } from "@cem/core";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

/** The name of the tool that runs code, for frameworks in which the tool defines it. */
export const EXECUTE_CODE = "execute_code";
/** The name of the tool that searches for tools. */
export const SEARCH_TOOLS = "search_tools";

/** The input of each tool: one text, with its description. */
const INPUTS = { code: "The program, in TypeScript.", query: "What the tool should do, in words." } as const;
type InputName = keyof typeof INPUTS;

export const SEARCH_DESCRIPTION =
  "Find tools by what they do. The answer has their signatures, to be used in code for execute_code.";

/** The options of a run that a tool passes on: session, limits and callbacks for questions. */
export type RunOptions = Pick<
  ExecuteOptions,
  "allowedTools" | "limits" | "onApprove" | "onElicit" | "onEvent" | "session" | "singleUse" | "typeCheck"
>;

/** Options of every tool that runs code, for frameworks with approvals. */
export interface ApprovedCodeOptions {
  /**
   * The topic of the conversation. The signatures of the most relevant tools come first.
   *
   * @defaultValue some tools of each server
   */
  task?: string | undefined;
  /**
   * Maximum number of tokens of the signatures in the description. 0: no signatures.
   *
   * @defaultValue 2,000
   */
  signatureTokens?: number | undefined;
  /** Options of each run. */
  run?: RunOptions | undefined;
  /**
   * Whether images and files that a result refers to are shown to the model.
   *
   * @defaultValue true
   */
  attachments?: boolean | undefined;
  /**
   * The code that needs approval. Approved code may call each tool that it calls by name. Calls of other tools that need
   * approval go to `run.onApprove`, or else are refused.
   *
   * @defaultValue false
   */
  needsApproval?: NeedsApproval | undefined;
}

/** Options of tools that run code, for `openai`, which can't ask before code runs: `run.onApprove` is asked instead. */
export interface ExecuteCodeOptions extends ApprovedCodeOptions {
  needsApproval?: false | undefined;
}

/**
 * The code that a person approves, in the way of the framework, before it runs. `destructive`: code that calls a tool
 * annotated as destructive by name. `true`: all code.
 */
export type NeedsApproval = boolean | "destructive" | ((code: string) => boolean | Promise<boolean>);

/** Options of every tool that searches for tools. */
export interface SearchToolsOptions {
  /**
   * Maximum number of tools found.
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
 * Answers approval requests of a run whose code a person has approved: yes for tools that the code calls by name. A tool
 * reached in another way, by a computed name or inside a skill, was not visible to that person.
 */
export function approveCalled(agent: Agent, code: string, onApprove: Approve | undefined): Approve {
  return async (request) => {
    const isAsked = ({ server, name, originalName = name }: ToolDefinition): boolean =>
      server === request.server && originalName === request.tool;
    if (await callsOneOf(agent, code, isAsked)) return "once";
    return onApprove === undefined ? "no" : onApprove(request);
  };
}

/** Whether code calls one of these tools by name, or passes it on to be called. Parsed in the same way as by the agent. */
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
export type TextInputJsonSchema<Name extends InputName> = ReturnType<typeof textInputJsonSchema<Name>>;

/** A Standard Schema that also provides its JSON Schema, which is all that a framework needs. */
export interface TextInputSchema<Name extends InputName> {
  readonly "~standard": StandardSchemaV1.Props<Record<Name, string>> &
    StandardJSONSchemaV1.Props<Record<Name, string>>;
}

/** Describes an object with one text, as JSON Schema. */
export function textInputJsonSchema<Name extends InputName>(name: Name) {
  const property = { type: "string" as const, description: INPUTS[name] as string };
  return {
    type: "object" as const,
    properties: { [name]: property } as Record<Name, typeof property>,
    required: [name],
    additionalProperties: false as const,
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

/** Returns the input's text, if it is a string. */
export function textIn(input: unknown, name: InputName): string | undefined {
  const text: unknown = typeof input === "object" && input !== null ? Reflect.get(input, name) : undefined;
  return typeof text === "string" ? text : undefined;
}
