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
