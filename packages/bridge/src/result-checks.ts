import { CemError } from "@cem/core";
import type { FailedTool, JsonSchema, JsonValue } from "@cem/core";
import { createSchemaValidator } from "./schema-validation.ts";
import type { SchemaValidator } from "./schema-validation.ts";
import { onceForEachTool } from "./unvalidated.ts";
import type { OnUnvalidated } from "./unvalidated.ts";
import { asSentence } from "./violation.ts";
import type { Violation } from "./violation.ts";

/** Settings of {@link createResultCheck}. */
export interface ResultCheckSettings {
  /**
   * Validates results.
   *
   * @defaultValue a validator of its own
   */
  validator?: SchemaValidator | undefined;
  /** Receives each tool whose results can't be checked, once, with the reason. */
  onUnvalidated?: OnUnvalidated | undefined;
}

/**
 * Checks a result against the tool's own output schema, in bounded time. A schema that can't be compiled, and a result
 * that takes too long, go unchecked and are reported.
 *
 * @throws CemError `RESULT_INVALID`, which names the place.
 */
export type ResultCheck = (tool: FailedTool, schema: JsonSchema, result: JsonValue) => Promise<void>;

/** Creates a check of results. It compiles each schema once. */
export function createResultCheck(settings: ResultCheckSettings = {}): ResultCheck {
  const { validator = createSchemaValidator() } = settings;
  const reportUnvalidated = onceForEachTool("result", settings.onUnvalidated);
  return async (tool, schema, result) => {
    const check = await validator.prepare(schema);
    if (!check.validated) return reportUnvalidated(tool, check.reason);
    const violation = check.check(result, "result");
    if (violation?.unchecked) return reportUnvalidated(tool, violation.message);
    if (violation !== undefined) throw resultInvalid(tool, violation);
  };
}

/** Creates a `RESULT_INVALID` error for a result that does not fit the tool's own output schema. */
export function resultInvalid({ server, tool }: FailedTool, { path, message }: Violation): CemError {
  return new CemError(
    "RESULT_INVALID",
    `${server}.${tool} answered, but its result does not fit its own output schema: ${asSentence(message)}`,
    { details: { server, tool, place: path } },
  );
}
