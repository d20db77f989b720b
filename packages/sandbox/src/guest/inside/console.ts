import type { Primordials } from "./primordials.ts";
import type { Printer } from "./printed.ts";

type Members = Record<string, unknown>;

/**
 * Creates the console of a realm: in a light realm, only the methods that print.
 *
 * @param write - Receives a text, and whether it is for stderr.
 * @param runtime - The runtime's console, for all other methods.
 */
export function createConsole(
  primordials: Primordials,
  print: Printer,
  write: (isError: boolean, text: string) => void,
  runtime: Members | undefined,
): object {
  const { apply, defineValue, includesText, keys, ownProperty, symbols } = primordials;
  const DIRECTIVES = "sdifjoOc";
  const PRINTING = ["log", "info", "debug", "warn", "error"];
  const floor = Math.trunc;

  const shown = (value: unknown): string => (typeof value === "string" ? value : print(value));

  function filledIn(directive: string, value: unknown): string {
    if (directive === "c") return "";
    const isInteger = (directive === "d" || directive === "i") && typeof value === "number";
    return shown(isInteger ? floor(value) : value);
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
    }
    for (; next < args.length; next += 1) text += `${next > 0 ? " " : ""}${shown(args[next])}`;
    return text;
  }

  const made = {};
  function add(name: string, run: (...args: unknown[]) => void): void {
    defineValue(run, "name", name, false);
    defineValue(made, name, run, true);
  }
  function put(name: string, text: string): void {
    if (runtime === undefined) write(name === "warn" || name === "error", `${text}\n`);
    // It indents output in groups.
    else apply(runtime[name], runtime, [text]);
  }
  for (const name of PRINTING) add(name, (...args) => put(name, format(args)));
  add("dir", (value) => put("log", shown(value)));
  if (runtime !== undefined)
    add("group", (...args) => void apply(runtime["group"], runtime, args.length === 0 ? [] : [format(args)]));
  const others = runtime === undefined ? [] : keys(runtime);
  for (let index = 0; index < others.length; index += 1) {
    const name = others[index] as string;
    if (ownProperty(made, name) === undefined) defineValue(made, name, (runtime as Members)[name], true);
  }
  defineValue(made, symbols.toStringTag, "console", false);
  return made;
}
