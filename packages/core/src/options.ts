import { CemError } from "./errors.ts";
import { nearest } from "./text/nearest.ts";

/**
 * Refuses options that the callee does not know, for callers that the compiler did not check.
 *
 * @param given - The options as they were passed.
 * @param known - Every option's name. The type makes the compiler check that none is missing.
 * @param where - The function that takes the options, for the message.
 * @throws CemError `OPTION_INVALID` where `given` is no object or has an unknown option.
 */
export function assertKnownOptions<T extends object>(
  given: T,
  known: Readonly<Record<keyof T, true>>,
  where: string,
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
  const options = unknown.map((option) => ({ option, nearest: nearest(option, names)[0] }));
  const sentences = options.map(({ option, nearest: near }) => {
    const question = near === undefined ? "" : ` Did you mean "${near}"?`;
    return `"${option}" is not an option of ${where}.${question}`;
  });
  throw new CemError("OPTION_INVALID", sentences.join(" "), { details: { where, options, known: names } });
}

/**
 * The ids that can be names of folders as they are. One spelling for each on every file system: no upper case, nothing that
 * looks like another letter, none of the names that Windows keeps for devices, none of those that are derived from an
 * identity or from an id with capital letters.
 */
const OWNER_ID =
  /^(?!(?:con|prn|aux|nul|com\d|lpt\d)$)(?!(?:.*-)?id-[0-9a-f]{32}$)[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;

/** The ids that owners may be given: those of {@link OWNER_ID}, also with capital letters. */
export const GIVEN_OWNER_ID: RegExp = new RegExp(OWNER_ID.source.replaceAll("a-z", "A-Za-z"));

/** The rule of {@link GIVEN_OWNER_ID} in words that follow "an owner's id needs". */
export const OWNER_ID_RULE =
  "letters a to z, digits, _ and -, at most 64 characters, beginning and ending with a letter or digit; and it must not be a device's name such as con, nor look like the id of a token's user";

/** Whether a value can be the id that somebody gives an owner. */
export function isGivenOwnerId(id: unknown): id is string {
  return typeof id === "string" && OWNER_ID.test(id);
}
