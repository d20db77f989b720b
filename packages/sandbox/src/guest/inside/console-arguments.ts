import type { Primordials } from "./primordials.ts";
import type { Printer } from "./printed.ts";

/** Turns what a program gives the console into what the runtime's console is given, which has no objects to lay out. */
export type ConsoleArguments = (args: readonly unknown[]) => readonly unknown[];

/** Creates the conversion of a realm. */
export function createConsoleArguments(primordials: Primordials, print: Printer): ConsoleArguments {
  const { create, defineValue, includesText } = primordials;
  const DIRECTIVE = "sdifjoOc";
  const TEXT_DIRECTIVE = "sjoO";

  function isObject(value: unknown): value is object {
    return (typeof value === "object" && value !== null) || typeof value === "function";
  }

  return (args) => {
    const result = create(null) as unknown[];
    let size = 0;
    const add = (value: unknown): void => {
      result[size] = value;
      size += 1;
    };
    const first = args[0];
    let next = 0;
    if (typeof first === "string" && args.length > 1 && includesText(first, "%")) {
      // The console fills in strings where the format asks for objects.
      let format = "";
      add(format);
      next = 1;
      for (let index = 0; index < first.length; index += 1) {
        const letter = first[index] as string;
        const directive = letter === "%" ? (first[index + 1] ?? "") : "";
        const isFilled = directive !== "" && includesText(DIRECTIVE, directive) && next < args.length;
        if (directive === "%" || isFilled) index += 1;
        if (!isFilled) {
          format += directive === "%" ? "%%" : letter;
          continue;
        }
        const value = args[next];
        next += 1;
        const text = isObject(value) && includesText(TEXT_DIRECTIVE, directive) ? print(value) : value;
        format += `%${text === value ? directive : "s"}`;
        add(text);
      }
      result[0] = format;
    }
    for (; next < args.length; next += 1) {
      const value = args[next];
      const text = isObject(value) ? print(value) : value;
      // The first argument was not a format string, so its text must not become one.
      if (next === 0 && text !== value && args.length > 1) add("%s");
      add(text);
    }
    defineValue(result, "length", size, false);
    return result;
  };
}
