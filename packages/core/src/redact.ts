import { CemError } from "./errors.ts";
import type { RedactionScope, Redactor } from "./redaction.ts";

/** An error as whoever asked may read it: with tokens in place of values. One that holds none stays as it is. */
export async function withoutValues(
  error: unknown,
  redactor: Redactor,
  scope: RedactionScope,
): Promise<unknown> {
  if (!(error instanceof Error)) return error;
  const { message } = error;
  const code = CemError.isInstance(error) ? error.code : "UNEXPECTED";
  const details = CemError.isInstance(error) ? error.details : {};
  const shown = await tokenizeInTurns(redactor, { message, details }, scope);
  // An unchanged error keeps its cause and its class.
  if (shown.message === message && shown.details === details) return error;
  return new CemError(code, shown.message, { details: shown.details });
}

/**
 * Puts tokens in place of values, once a model has recognized names where there is one, and with turns of the event loop for
 * others where the redactor can do so.
 */
export async function tokenizeInTurns<Data>(
  redactor: Redactor,
  data: Data,
  scope: RedactionScope,
): Promise<Data> {
  await redactor.recognize?.(data, scope);
  return redactor.tokenizeInTurns?.(data, scope) ?? redactor.tokenize(data, scope);
}
