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
  await redactor.recognize?.([message, details], scope);
  const shown = redactor.tokenize({ message, details }, scope);
  // An unchanged error keeps its cause and its class.
  if (shown.message === message && shown.details === details) return error;
  return new CemError(code, shown.message, { details: shown.details });
}

/** Puts tokens in place of values, with turns of the event loop for others where the redactor can do so. */
export async function tokenizeInTurns<Data>(
  redactor: Redactor,
  data: Data,
  scope: RedactionScope,
): Promise<Data> {
  return redactor.tokenizeInTurns?.(data, scope) ?? redactor.tokenize(data, scope);
}
