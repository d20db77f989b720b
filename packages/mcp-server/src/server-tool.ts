import { randomUUID } from "node:crypto";
import type { Agent, JsonSchema, JsonValue, ResultStore, StateStore } from "@cem/core";
import { fromJsonSchema } from "@modelcontextprotocol/server";
import type {
  CallToolResult,
  InputRequiredResult,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import type { RunRegistry } from "./run-registry.ts";

/** What the tools work with. */
export interface ToolHost {
  agent: Agent;
  runs: RunRegistry;
  /** Absent: there is no state here, and its tools are not offered. */
  state?: StateStore | undefined;
  /** Absent: what is too large is cut. */
  results?: ResultStore | undefined;
}

/** A tool as the protocol shows and calls it. */
export interface ServerTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: StandardSchemaWithJSON;
  outputSchema?: StandardSchemaWithJSON;
  annotations?: ToolAnnotations;
  handle: (input: unknown, context: ServerContext) => Promise<CallToolResult | InputRequiredResult>;
}

interface ToolDeclaration<Input> {
  name: string;
  title: string;
  description: string;
  /** Few words: every client pays for them in tokens, up front. */
  input: JsonSchema;
  output: JsonSchema;
  annotations: ToolAnnotations;
  handle: (
    input: Input,
    host: ToolHost,
    context: ServerContext,
  ) => Promise<CallToolResult | InputRequiredResult>;
}

/** Binds one of our own tools to what it works with. */
export type BindTool = (host: ToolHost) => ServerTool;

/** Declares one of our own tools. Its schemas are compiled once, however many clients there are. */
export function declareTool<Input>(declaration: ToolDeclaration<Input>): BindTool {
  const { input, output, handle, ...shown } = declaration;
  const inputSchema = fromJsonSchema<Input>(input);
  const outputSchema = fromJsonSchema(output);
  return (host) => ({
    ...shown,
    inputSchema,
    outputSchema,
    // The schema has checked it by now.
    handle: (checked, context) => handle(checked as Input, host, context),
  });
}

/** A JSON value as a tool's whole answer. */
export function answerValue(value: object | JsonValue): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(value) }],
    structuredContent: value,
  };
}

/** Who calls, as far as a token told: what one client started, another can't ask for. */
export function ownerOf({ http }: ServerContext): string {
  return http?.authInfo?.clientId ?? "";
}

/** Whose guests a run may share: those of its own session. A client that has none shares with nobody, but over stdio. */
export function sessionOf(context: ServerContext): string {
  const { http, sessionId } = context;
  if (sessionId !== undefined) return `${ownerOf(context)} ${sessionId}`;
  return http === undefined ? "stdio" : randomUUID();
}

export const text = { type: "string" } as const;
export const READ_ONLY: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
/** Code may call any tool there is. */
export const RUNS_CODE: ToolAnnotations = { destructiveHint: true, openWorldHint: true };
