import type { Primordials } from "./primordials.ts";

/**
 * Creates the function that reads what a program threw, as members of a JSON object; the stack is empty for anything
 * but errors. The message includes the error's causes and the errors that it aggregates. Safe against any getter and
 * proxy.
 *
 * @param print - Formats an object that is not an error.
 */
export function createThrownReader(
  primordials: Primordials,
  print: (value: unknown) => string,
): (thrown: unknown) => string {
  const { attempt, has, includesText, isArray, isNativeError, quote, sliceText, toText } = primordials;
  const MAX_NAME_CHARACTERS = 256;
  const MAX_MESSAGE_CHARACTERS = 8_192;
  const MAX_STACK_CHARACTERS = 16_384;
  const MAX_CAUSES = 4;
  const MAX_COLLECTED = 8;

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
  const named = (thrown: unknown, causes: number): string =>
    isErrorLike(thrown) ? `${nameOf(thrown)}: ${messageOf(thrown, causes)}` : textOf(thrown);

  function messageOf(error: object, causes: number): string {
    let message = read(error, "message", MAX_MESSAGE_CHARACTERS);
    if (causes === 0) return message;
    const errors = member(error, "errors");
    const count = attempt(() => (isArray(errors) ? errors.length : 0), 0);
    for (let index = 0; index < count && index < MAX_COLLECTED; index += 1)
      message += `\n- ${named(member(errors as object, `${index}`), 0)}`;
    if (count > MAX_COLLECTED) message += `\n- and ${count - MAX_COLLECTED} more`;
    const cause = member(error, "cause");
    if (cause === undefined) return message;
    // Many errors that wrap another repeat its message.
    const own = isErrorLike(cause) ? read(cause, "message", MAX_MESSAGE_CHARACTERS) : "";
    return own !== "" && includesText(message, own)
      ? message
      : `${message}\nCaused by ${named(cause, causes - 1)}`;
  }

  return (thrown) => {
    const isError = isErrorLike(thrown);
    const name = isError ? nameOf(thrown) : "Error";
    const message = cut(isError ? messageOf(thrown, MAX_CAUSES) : textOf(thrown), MAX_MESSAGE_CHARACTERS);
    const stack = isError ? read(thrown, "stack", MAX_STACK_CHARACTERS) : "";
    return `"name":${quote(name)},"message":${quote(message)},"stack":${quote(stack)}`;
  };
}
