import type { ElicitAnswer, JsonObject, JsonSchema, ToolAnnotations } from "@cem/core";
import type { StandardSchemaV1 } from "@standard-schema/spec";

const BRAND = Symbol.for("@cem/bridge.host-tool");

/** A schema of a library that implements Standard Schema, such as zod, valibot and arktype; or a JSON Schema. */
export type ToolSchema = StandardSchemaV1 | JsonSchema;

/** The input type of `execute`: the schema's output, after defaults and transformations. */
export type HostToolInput<Schema extends ToolSchema | undefined> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : JsonObject;

/** The result type of `execute`: the output schema's input. */
type HostToolResult<Schema extends ToolSchema | undefined> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Schema>
  : unknown;

/** The context passed to a host tool with its arguments. */
export interface HostToolContext {
  /** Aborts when the run ends or the tool's timeout expires. */
  signal: AbortSignal;
  /**
   * Asks the user a question. Without a user the answer is `cancel` with a `reason`. The timeouts of the tool and of the
   * run are paused meanwhile.
   */
  elicit: (
    question: { message: string } & (
      | { mode?: "form" | undefined; requestedSchema: JsonObject }
      | { mode: "url"; url: string }
    ),
  ) => Promise<ElicitAnswer>;
}

/** A function on the host that code in the sandbox calls like any other tool. */
export interface HostTool<
  Input extends ToolSchema | undefined = ToolSchema | undefined,
  Output extends ToolSchema | undefined = ToolSchema | undefined,
> {
  /** A description of the tool. Selectors and models choose by it. */
  description: string;
  /** The schema of the arguments, which are one object. Without one, the tool takes no arguments. */
  input?: Input | undefined;
  /** The schema of the result, which is checked. Without one the result is anything that JSON can represent. */
  output?: Output | undefined;
  /**
   * Executes a call, on the host: it may use the network and secrets. What it throws becomes an exception with the
   * same message in the calling code. A `Blob`, `ArrayBuffer` or `Uint8Array` in the result becomes a handle.
   */
  execute(
    input: HostToolInput<Input>,
    context: HostToolContext,
  ): HostToolResult<Output> | Promise<HostToolResult<Output>>;
  /** Hints about the tool's behaviour, as MCP defines them. */
  annotations?: ToolAnnotations | undefined;
  /**
   * The timeout of a call, in milliseconds.
   *
   * @defaultValue 60,000
   */
  timeoutMs?: number | undefined;
  /** The input as JSON Schema, for a catalog. Needed when the library can't convert its schema. */
  inputJsonSchema?: JsonSchema | undefined;
  /** The output as JSON Schema, likewise. */
  outputJsonSchema?: JsonSchema | undefined;
}

/**
 * Defines a host tool. The schemas determine the types of `execute`.
 *
 * @example
 * ```ts
 * const find_order = defineTool({
 *   description: "Find an order by name.",
 *   input: z.object({ name: z.string() }),
 *   execute: async ({ name }) => database.orders.find(name),
 * });
 * ```
 */
export function defineTool<
  const Input extends ToolSchema | undefined = undefined,
  const Output extends ToolSchema | undefined = undefined,
>(tool: HostTool<Input, Output>): HostTool {
  // `execute` only receives output of the schema, so the wider type is safe.
  const defined = { ...tool } as unknown as HostTool;
  Object.defineProperty(defined, BRAND, { value: true });
  return Object.freeze(defined);
}

/** Whether a value was made by {@link defineTool}, of this or another copy of the package. */
export function isHostTool(value: unknown): value is HostTool {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
}
