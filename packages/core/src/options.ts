import { CemError } from "./errors.ts";

/** Finds the names that a wrong one may have been meant to be, nearest first. */
export type SuggestNames = (name: string, known: readonly string[]) => readonly string[];

/**
 * Refuses options that the callee does not know, for callers that the compiler did not check.
 *
 * @param given - The options as they were passed.
 * @param known - Every option's name. The type makes the compiler check that none is missing.
 * @param where - The function that takes the options, for the message.
 * @param suggest - Adds "Did you mean …?" to the message.
 * @throws CemError `OPTION_INVALID` where `given` is no object or has an unknown option.
 */
export function assertKnownOptions<T extends object>(
  given: T,
  known: Readonly<Record<keyof T, true>>,
  where: string,
  suggest: SuggestNames = () => [],
): void {
  const value: unknown = given;
  if (typeof value !== "object" || value === null) {
    throw new CemError(
      "OPTION_INVALID",
      `${where} takes an object of options, not ${JSON.stringify(value)}.`,
      {
        details: { where },
      },
    );
  }
  const names = Object.keys(known);
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(known, name));
  if (unknown.length === 0) return;
  const options = unknown.map((option) => {
    const [nearest] = suggest(option, names);
    return { option, nearest };
  });
  const sentences = options.map(({ option, nearest }) => {
    const question = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
    return `"${option}" is not an option of ${where}.${question}`;
  });
  throw new CemError("OPTION_INVALID", sentences.join(" "), { details: { where, options, known: names } });
}
