import { CemError } from "./errors.ts";
import { isObject } from "./json.ts";
import { nearest } from "./text/nearest.ts";

const KINDS = {
  "a string": (value: unknown) => typeof value === "string",
  "true or false": (value: unknown) => typeof value === "boolean",
  "a number from 0 on": (value: unknown) => typeof value === "number" && value >= 0,
  "a function": (value: unknown) => typeof value === "function",
  "an object": (value: unknown) => isObject(value),
  "a list": Array.isArray,
  "an AbortSignal": (value: unknown) => typeof (value as AbortSignal | null)?.aborted === "boolean",
};

/** The values that an option takes: those of a kind, one of a list, or any. */
type OptionKind = keyof typeof KINDS | readonly string[] | true;

/**
 * Refuses unknown options and options of a wrong type, for callers that the compiler did not check.
 *
 * @param given - The options as they were passed.
 * @param known - The name and kind of every option. The type makes the compiler check that none is missing.
 * @param where - The function that takes the options, for the message.
 * @throws CemError `OPTION_INVALID` when `given` is not an object, or has an unknown option or one of a wrong type.
 */
export function assertKnownOptions<T extends object>(
  given: T,
  known: Readonly<Record<keyof T, OptionKind>>,
  where: string,
): void {
  const value: unknown = given;
  if (typeof value !== "object" || value === null) {
    throw new CemError(
      "OPTION_INVALID",
      `${where} takes an object of options, not ${JSON.stringify(value)}.`,
      { details: { where } },
    );
  }
  const names = Object.keys(known);
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(known, name));
  if (unknown.length === 0) {
    for (const [option, one] of Object.entries(value))
      assertKind(option, one, known[option as keyof T], where);
    return;
  }
  const options = unknown.map((option) => ({ option, nearest: nearest(option, names)[0] }));
  const sentences = options.map(({ option, nearest: near }) => {
    const question = near === undefined ? "" : ` Did you mean "${near}"?`;
    return `"${option}" is not an option of ${where}.${question}`;
  });
  throw new CemError("OPTION_INVALID", sentences.join(" "), { details: { where, options, known: names } });
}

function assertKind(option: string, value: unknown, kind: OptionKind, where: string): void {
  if (value === undefined || kind === true) return;
  if (typeof kind === "string" ? KINDS[kind](value) : kind.includes(value as string)) return;
  const wanted = typeof kind === "string" ? kind : `one of ${kind.map((one) => `"${one}"`).join(", ")}`;
  const kindOf = Object.prototype.toString.call(value).slice(8, -1);
  const isText = typeof value === "string";
  const got = isText ? JSON.stringify(value) : Object(value) === value ? kindOf : `${value as number}`;
  throw new CemError("OPTION_INVALID", `"${option}" of ${where} has to be ${wanted}, not ${got}.`, {
    details: { where, option },
  });
}

/**
 * The ids that can be folder names as they are, with one spelling on every file system: no upper case, no look-alike
 * letters, no device names of Windows, and no names that are derived from an identity or from an id with capital
 * letters.
 */
const OWNER_ID =
  /^(?!(?:con|prn|aux|nul|com\d|lpt\d)$)(?!(?:.*-)?id-[0-9a-f]{32}$)[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;

/** The ids that owners may be given: like {@link OWNER_ID}, but capital letters are allowed. */
export const GIVEN_OWNER_ID: RegExp = new RegExp(OWNER_ID.source.replaceAll("a-z", "A-Za-z"));

/** The rule of {@link GIVEN_OWNER_ID} in words that follow "an owner's id needs". */
export const OWNER_ID_RULE =
  "letters a to z, digits, _ and -, at most 64 characters, beginning and ending with a letter or digit; and it must not be a device's name such as con, nor look like the id of a token's user";

/** Whether a value can be given as an owner's id. */
export function isGivenOwnerId(id: unknown): id is string {
  return typeof id === "string" && OWNER_ID.test(id);
}
