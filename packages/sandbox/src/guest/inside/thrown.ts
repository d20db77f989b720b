import type { ErrorReader } from "./error-members.ts";
import type { Primordials } from "./primordials.ts";

/**
 * Creates the function that reads what a program threw, as members of a JSON object; the stack is empty for anything
 * but errors. The message includes the error's members, causes and the errors that it stands for. Safe against any getter and
 * proxy.
 *
 * @param print - Formats an object that is not an error.
 */
export function createThrownReader(
  primordials: Primordials,
  reader: ErrorReader,
  print: (value: unknown) => string,
): (thrown: unknown) => string {
  const { attempt, create, defineValue, has, includesText, isNativeError, keys, quote } = primordials;
  const { sliceText, toText } = primordials;
  const MAX_NAME_CHARACTERS = 256;
  const MAX_MESSAGE_CHARACTERS = 8_192;
  const MAX_STACK_CHARACTERS = 16_384;
  const MAX_CAUSES = 4;
  const MAX_MEMBERS_CHARACTERS = 1_024;

  /** The redactor knows the note, since the text before it may end with a part of a value: see `CUT` of `@cem/pii`. */
  const cut = (text: string, limit: number): string =>
    text.length <= limit
      ? text
      : `${sliceText(text, 0, limit)} [Only the first ${limit} characters are shown.]`;
  const member = (value: object, key: string): unknown =>
    attempt(() => (value as Record<string, unknown>)[key], undefined);
  const read = (value: object, key: string, limit: number): string =>
    attempt(() => {
      const found = member(value, key);
      return found === undefined ? "" : cut(toText(found), limit);
    }, "");
  const isErrorLike = (value: unknown): value is object =>
    typeof value === "object" &&
    value !== null &&
    attempt(() => isNativeError(value) || has(value, "message"), false);
  const textOf = (thrown: unknown): string =>
    attempt(
      () => (typeof thrown === "object" && thrown !== null ? print(thrown) : toText(thrown)),
      "The program threw a value that has no text.",
    );
  const nameOf = (thrown: object): string => read(thrown, "name", MAX_NAME_CHARACTERS) || "Error";
  const isOfCall = (error: object): boolean => nameOf(error) === "ToolError";
  const named = (thrown: unknown, causes: number): string =>
    isErrorLike(thrown) ? `${nameOf(thrown)}: ${messageOf(thrown, causes)}` : textOf(thrown);

  /** The members of an error, without what its message says. Of a call that failed, the host knows more. */
  function membersText(error: object, message: string): string {
    const members = attempt(() => (isOfCall(error) ? undefined : reader.membersOf(error)), undefined) ?? {};
    const names = keys(members);
    const shown = create(null) as Record<string, unknown>;
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      const value = members[name];
      const isSaid = typeof value === "string" ? includesText(message, value) : typeof value === "function";
      if (!isSaid && name !== "errno") defineValue(shown, name, value, true);
    }
    return keys(shown).length === 0
      ? ""
      : ` ${cut(
          attempt(() => print(shown), ""),
          MAX_MEMBERS_CHARACTERS,
        )}`;
  }

  function messageOf(error: object, causes: number): string {
    const told = read(error, "message", MAX_MESSAGE_CHARACTERS);
    if (causes === 0) return told + membersText(error, told);
    let collected = "";
    const { errors, count } = attempt(() => reader.collectedBy(error), { errors: [], count: 0 });
    for (let index = 0; index < errors.length; index += 1) collected += `\n- ${named(errors[index], 0)}`;
    if (count > errors.length) collected += `\n- and ${count - errors.length} more`;
    const whole = told + membersText(error, told) + collected;
    const cause = member(error, "cause");
    if (cause === undefined) return whole;
    // Many errors that wrap another repeat its message.
    const own = isErrorLike(cause) ? read(cause, "message", MAX_MESSAGE_CHARACTERS) : "";
    return own !== "" && includesText(told + collected, own)
      ? whole
      : `${whole}\nCaused by ${named(cause, causes - 1)}`;
  }

  return (thrown) => {
    const isError = isErrorLike(thrown);
    const name = isError ? nameOf(thrown) : "Error";
    const message = cut(isError ? messageOf(thrown, MAX_CAUSES) : textOf(thrown), MAX_MESSAGE_CHARACTERS);
    const stack = isError ? read(thrown, "stack", MAX_STACK_CHARACTERS) : "";
    return `"name":${quote(name)},"message":${quote(message)},"stack":${quote(stack)}`;
  };
}
