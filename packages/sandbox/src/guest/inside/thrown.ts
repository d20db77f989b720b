import type { Primordials } from "./primordials.ts";

/**
 * Creates the function that reads what a program threw, as members of a JSON object; the stack is empty for what is not an
 * error. It survives every getter and proxy.
 */
export function createThrownReader(primordials: Primordials): (thrown: unknown) => string {
  const { attempt, has, isNativeError, quote, sliceText, toText } = primordials;
  const MAX_NAME_CHARACTERS = 256;
  const MAX_MESSAGE_CHARACTERS = 8_192;
  const MAX_STACK_CHARACTERS = 16_384;

  const read = (value: object, key: string, limit: number): string =>
    attempt(() => {
      const found = (value as Record<string, unknown>)[key];
      return found === undefined ? "" : sliceText(toText(found), 0, limit);
    }, "");
  const isErrorLike = (value: unknown): value is object =>
    typeof value === "object" &&
    value !== null &&
    attempt(() => isNativeError(value) || has(value, "message"), false);
  const textOf = (thrown: unknown): string =>
    attempt(
      () => sliceText(toText(thrown), 0, MAX_MESSAGE_CHARACTERS),
      "The program threw a value that has no text.",
    );

  return (thrown) => {
    const isError = isErrorLike(thrown);
    const name = (isError && read(thrown, "name", MAX_NAME_CHARACTERS)) || "Error";
    const message = isError ? read(thrown, "message", MAX_MESSAGE_CHARACTERS) : textOf(thrown);
    const stack = isError ? read(thrown, "stack", MAX_STACK_CHARACTERS) : "";
    return `"name":${quote(name)},"message":${quote(message)},"stack":${quote(stack)}`;
  };
}
