import type { JsonObject, JsonSchema, JsonValue } from "@cem/core";
import * as z from "zod";
import type { DocumentPath } from "../expressions/expression.ts";

/** How a failed step is retried. */
export interface Retry {
  /** Maximum number of attempts, including the first. */
  attempts: number;
  /** The pause before the second attempt. */
  delayMs: number;
  /** The factor by which the delay grows after each attempt. */
  backoff: number;
}

/** The reaction to a failure: one of these words, or the name of a later step to continue with. */
export const ON_ERROR = ["stop", "skip", "continue", "retry"] as const;

/** One step. */
export interface WorkflowStep {
  name: string;
  type: string;
  /** The configuration without the bodies. Expressions are kept as written. */
  config: JsonObject;
  /** The lists of steps within it, named `then`, `else` or `steps`. */
  bodies: readonly { name: string; steps: readonly WorkflowStep[] }[];
  guardrails?: JsonObject | undefined;
  onError: string;
  retry: Retry;
  timeoutMs?: number | undefined;
  needs: readonly string[];
  /** Whether the step is idempotent. */
  isIdempotent?: boolean | undefined;
  /** Its path in the file. */
  path: DocumentPath;
}

/** A value that a run is given. */
export interface WorkflowVariable {
  schema: JsonSchema;
  /** Absent: it has to be given. */
  default?: JsonValue | undefined;
}

/** A checked workflow. */
export interface Workflow {
  name: string;
  description: string;
  version: string;
  variables: Readonly<Record<string, WorkflowVariable>>;
  steps: readonly WorkflowStep[];
  guardrails?: JsonObject | undefined;
  /** The outputs of a run, by name, with expressions. Absent: the results of all steps. */
  outputs?: JsonObject | undefined;
  timeoutMs?: number | undefined;
  /** Maximum number of concurrent steps of one list. */
  maxParallel: number;
  /** The content of the file, as stored with a run. */
  source: JsonObject;
}

/** A workflow as it is written: text in YAML or JSON, or data. */
export type WorkflowSource = {
  /** A file's name or another one, for messages. */
  origin: string;
} & ({ text: string } | { value: unknown });

const MAX_SECONDS = 30 * 86_400;
const MAX_ATTEMPTS = 100;
/** Maximum number of concurrent iterations of a loop. */
const MAX_PARALLEL = 64;
const MAX_NAME_CHARACTERS = 100;

const jsonValue: z.ZodType<JsonValue> = z.json();
const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), jsonValue) as z.ZodType<JsonObject>;
const seconds = z.number().min(0).max(MAX_SECONDS);
const parallel = z.int().min(1).max(MAX_PARALLEL);

/** Names are used in paths of steps, such as `loop[3].send`. */
const name = z
  .string()
  .min(1)
  .max(MAX_NAME_CHARACTERS)
  .regex(
    /^(?!__)[^\p{Cc}./#[\]"]+$/u,
    'must not begin with __ or have any of . / # [ ] " or control characters',
  );

const retry = z.strictObject({
  attempts: z.int().min(1).max(MAX_ATTEMPTS).optional(),
  delay: seconds.optional(),
  backoff: z.union([z.number().min(1).max(10), z.enum(["fixed", "exponential"])]).optional(),
});

/** A step as it is written. The lists of steps within its `config` are checked by the same schema. */
export const stepSchema = z.strictObject({
  name,
  type: z.string().min(1),
  description: z.string().optional(),
  config: jsonObject.optional(),
  guardrails: jsonObject.optional(),
  on_error: z.string().min(1).optional(),
  retry: retry.optional(),
  timeout: seconds.optional(),
  needs: z.array(z.string()).optional(),
  idempotent: z.boolean().optional(),
});

export const workflowSchema = z.strictObject({
  name,
  description: z.string().optional(),
  version: z.union([z.string(), z.number()]).optional(),
  variables: jsonObject.optional(),
  steps: z.array(z.unknown()).min(1),
  guardrails: jsonObject.optional(),
  outputs: jsonObject.optional(),
  timeout: seconds.optional(),
  max_parallel: parallel.optional(),
  mcp_tool: z.boolean().optional(),
});

/** The schemas of `config` of the built-in types of steps, without lists of steps. */
export const CONFIG_SCHEMAS = {
  tool_call: z.strictObject({
    server: z.string().min(1).optional(),
    tool: z.string().min(1),
    arguments: z.union([jsonObject, z.string()]).optional(),
  }),
  code_execution: z.strictObject({
    code: z.string().min(1),
    inputs: z.union([jsonObject, z.string()]).optional(),
  }),
  condition: z.strictObject({
    condition: z.union([z.string().min(1), z.boolean()]),
    result: jsonValue.optional(),
  }),
  loop: z.strictObject({
    items: z.union([z.array(jsonValue), z.string().min(1)]).optional(),
    while: z.string().min(1).optional(),
    max_iterations: z.int().min(1).max(1_000_000).optional(),
    parallel: parallel.optional(),
    result: jsonValue.optional(),
  }),
  workflow: z.strictObject({ workflow: z.string().min(1), variables: jsonObject.optional() }),
} as const;

/** The lists of steps in the `config` of a built-in type. */
export const BODIES: Readonly<Record<string, readonly string[]>> = {
  condition: ["then", "else"],
  loop: ["steps"],
};
