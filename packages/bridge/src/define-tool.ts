import type { ElicitAnswer, JsonObject, JsonSchema, ToolAnnotations } from "@cem/core";
import type { StandardSchemaV1 } from "@standard-schema/spec";

const BRAND = Symbol.for("@cem/bridge.host-tool");

/** A schema of any library that implements Standard Schema, such as zod, valibot and arktype; or a JSON Schema. */
export type ToolSchema = StandardSchemaV1 | JsonSchema;

/** What `execute` gets: the schema's own output, after defaults and transformations. */
export type HostToolInput<Schema extends ToolSchema | undefined> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : JsonObject;

/** What `execute` returns: what the output schema takes. */
type HostToolResult<Schema extends ToolSchema | undefined> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Schema>
  : unknown;

/** What a tool may use while it runs. */
export interface HostToolContext {
  /** Aborts when the run ends, or the tool's time is up. */
  signal: AbortSignal;
  /**
   * Asks the user, where one is; else the answer is `decline`. The time a person takes counts neither against the
   * tool nor against the run.
   */
  elicit: (
    question: { message: string } & (
      | { mode?: "form" | undefined; requestedSchema: JsonObject }
      | { mode: "url"; url: string }
    ),
  ) => Promise<ElicitAnswer>;
}

/** A function on the host that guest code calls like any other tool. */
export interface HostTool<
  Input extends ToolSchema | undefined = ToolSchema | undefined,
  Output extends ToolSchema | undefined = ToolSchema | undefined,
> {
  /** What it does; the selector and models choose by this. */
  description: string;
  /** One object with the arguments. Absent: it takes none. Checked before `execute` is called. */
  input?: Input | undefined;
  /** What it resolves to. Absent: anything that JSON can carry. Checked before the guest gets it. */
  output?: Output | undefined;
  /**
   * Does the work, on the host: it may use the network and secrets. What it throws becomes an exception in the guest
   * with the same message. A `Blob` or `Uint8Array` in the result reaches the guest as a handle.
   */
  execute(
    input: HostToolInput<Input>,
    context: HostToolContext,
  ): HostToolResult<Output> | Promise<HostToolResult<Output>>;
  annotations?: ToolAnnotations | undefined;
  /** The most time for one call, in milliseconds. Default 60,000. */
  timeoutMs?: number | undefined;
  /** For libraries whose schemas can't be had as JSON Schema: what code and models are shown of the input. */
  inputJsonSchema?: JsonSchema | undefined;
  /** The same of the output. */
  outputJsonSchema?: JsonSchema | undefined;
}

/** Makes a host tool; the types of its schemas become those of `execute`. */
export function defineTool<
  const Input extends ToolSchema | undefined = undefined,
  const Output extends ToolSchema | undefined = undefined,
>(tool: HostTool<Input, Output>): HostTool {
  // A tool takes whatever its schema lets through, which is what it is called with.
  const defined = { ...tool } as unknown as HostTool;
  Object.defineProperty(defined, BRAND, { value: true });
  return Object.freeze(defined);
}

/** Whether a value came from {@link defineTool}, of this or another copy of the package. */
export function isHostTool(value: unknown): value is HostTool {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
}
