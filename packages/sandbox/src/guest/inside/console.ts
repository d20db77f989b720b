import type { Primordials } from "./primordials.ts";
import type { Printer } from "./printed.ts";

type Members = Record<string, unknown>;

/**
 * Creates the console of a realm.
 *
 * @param write - Takes a text, and whether it is for stderr.
 * @param runtime - The runtime's console, which has the methods that lay out and measure.
 */
export function createConsole(
  primordials: Primordials,
  print: Printer,
  write: (isError: boolean, text: string) => void,
  runtime: Members | undefined,
): object {
  const { apply, constructors, create, defineValue, includesText, indexOfText, keys } = primordials;
  const { sliceText, symbols, toNumber, toText } = primordials;
  const DIRECTIVES = "sdifjoOc";
  const counts = create(null) as Record<string, number>;
  const floor = Math.trunc;
  let indent = "";

  function shown(value: unknown): string {
    if (typeof value === "string") return value;
    if (typeof value === "bigint") return `${value}n`;
    if (value === 0 && 1 / value < 0) return "-0";
    const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
    return isObject ? print(value) : toText(value);
  }

  function filledIn(directive: string, value: unknown): string {
    if (directive === "c") return "";
    if (directive === "s" || directive === "j" || directive === "o" || directive === "O") return shown(value);
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "object" || typeof value === "symbol") return "NaN";
    const number = toNumber(value);
    return toText(directive === "f" ? number : floor(number));
  }

  function format(args: readonly unknown[]): string {
    const first = args[0];
    let text = "";
    let next = 0;
    if (typeof first === "string" && args.length > 1 && includesText(first, "%")) {
      next = 1;
      for (let index = 0; index < first.length; index += 1) {
        const letter = first[index] as string;
        const directive = letter === "%" ? (first[index + 1] ?? "") : "";
        if (directive === "%") {
          text += "%";
          index += 1;
        } else if (directive !== "" && includesText(DIRECTIVES, directive) && next < args.length) {
          text += filledIn(directive, args[next]);
          next += 1;
          index += 1;
        } else text += letter;
      }
    } else if (args.length > 0) {
      text = shown(first);
      next = 1;
    }
    for (; next < args.length; next += 1) text += ` ${shown(args[next])}`;
    return text;
  }

  function put(isError: boolean, text: string): void {
    if (indent === "") return write(isError, `${text}\n`);
    let indented = "";
    for (let at = 0; at <= text.length;) {
      const found = indexOfText(text, "\n", at);
      const end = found === -1 ? text.length : found;
      indented += `${indent}${sliceText(text, at, end)}\n`;
      at = end + 1;
    }
    write(isError, indented);
  }

  const group = (...args: unknown[]): void => {
    if (args.length > 0) put(false, format(args));
    indent += "  ";
  };
  const methods: Members = {
    log: (...args: unknown[]) => put(false, format(args)),
    info: (...args: unknown[]) => put(false, format(args)),
    debug: (...args: unknown[]) => put(false, format(args)),
    warn: (...args: unknown[]) => put(true, format(args)),
    error: (...args: unknown[]) => put(true, format(args)),
    dirxml: (...args: unknown[]) => put(false, format(args)),
    dir: (value: unknown, options?: unknown) => {
      if (options !== undefined && runtime !== undefined) apply(runtime["dir"], runtime, [value, options]);
      else put(false, shown(value));
    },
    trace: (...args: unknown[]) => {
      const message = format(args);
      const made = new constructors.Error(message);
      const stack = toText(made.stack);
      const frames = indexOfText(stack, "\n    at ", 0);
      put(
        true,
        `Trace${message === "" ? "" : `: ${message}`}${frames === -1 ? "" : sliceText(stack, frames)}`,
      );
    },
    assert: (isTrue: unknown = false, ...args: unknown[]) => {
      if (!isTrue) put(true, `Assertion failed${args.length > 0 ? `: ${format(args)}` : ""}`);
    },
    count: (label: unknown = "default") => {
      const name = toText(label);
      counts[name] = (counts[name] ?? 0) + 1;
      put(false, `${name}: ${counts[name]}`);
    },
    countReset: (label: unknown = "default") => void delete counts[toText(label)],
    group,
    groupCollapsed: group,
    groupEnd: () => {
      indent = sliceText(indent, 2);
    },
  };
  const made = {};
  const names = keys(methods);
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    defineValue(methods[name] as object, "name", name, false);
    defineValue(made, name, methods[name], true);
  }
  const others = runtime === undefined ? [] : keys(runtime);
  for (let index = 0; index < others.length; index += 1) {
    const name = others[index] as string;
    if (methods[name] === undefined) defineValue(made, name, (runtime as Members)[name], true);
  }
  defineValue(made, symbols.toStringTag, "console", false);
  return made;
}
