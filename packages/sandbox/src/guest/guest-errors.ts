import type { ThrownText } from "./inside/thrown.ts";
import { toGuestText } from "./paths.ts";
import { readSourceMap } from "./source-map.ts";
import { freeze, quote, SafeWeakMap } from "./primordials.ts";

/** The program's position that caused an error, where its stack doesn't contain it. */
export interface ErrorPlace {
  line: number;
  column: number;
}

/** The name of the script that makes the inside of a realm. */
export const INSIDE_URL = "cem:inside";
const PROGRAM_PLACE = /blob:program:(\d+):(\d+)/g;
let toSource: ((place: ErrorPlace) => ErrorPlace) | undefined;

/** Sets how places in the program as it runs lead to those in its source; `undefined` where they are the same. */
export function useSourceMap(sourceMap: string | undefined): void {
  toSource = sourceMap === undefined ? undefined : readSourceMap(sourceMap);
}

function toSourcePlaces(stack: string): string {
  const map = toSource;
  if (map === undefined) return stack;
  return stack.replaceAll(PROGRAM_PLACE, (_, line: string, column: string) => {
    const place = map({ line: Number(line), column: Number(column) });
    return `blob:program:${place.line}:${place.column}`;
  });
}

/** The first place in the program that a stack names. */
export function programPlace(stack: string): ErrorPlace | undefined {
  const found = /blob:program:(\d+):(\d+)/.exec(toSourcePlaces(stack));
  return found === null ? undefined : { line: Number(found[1]), column: Number(found[2]) };
}

const RUNNER_FOLDER = new URL(".", import.meta.url).href;
/** The same as a URL and as a path. */
export const RUNNER_FOLDERS: readonly string[] = freeze([
  RUNNER_FOLDER,
  decodeURIComponent(new URL(RUNNER_FOLDER).pathname),
]);

/** Leaves the lines of the guest runner out of a printed stack. */
export function withoutOwnFrames(text: string): string {
  if (!text.includes(INSIDE_URL) && !text.includes(RUNNER_FOLDER)) return text;
  const kept: string[] = [];
  for (const line of text.split("\n")) {
    const isFrame = line.trimStart().startsWith("at ");
    if (!isFrame || !(line.includes(INSIDE_URL) || line.includes(RUNNER_FOLDER))) kept.push(line);
    // Opens the list of the error's members.
    else if (line.endsWith(" {")) kept.push(`${kept.pop() ?? ""} {`);
  }
  return kept.join("\n");
}

const places = new SafeWeakMap<ErrorPlace>();

/** Attaches a position in the program to what was thrown, where that is an object. */
export function placeError<Thrown>(thrown: Thrown, place: ErrorPlace): Thrown {
  if (typeof thrown === "object" && thrown !== null) places.set(thrown, place);
  return thrown;
}

/** Encodes a thrown value as a JSON object: `name`, `message`, `stack`, and `line` and `column` if known. */
export function encodeThrown(thrown: unknown, { name, message, stack }: ThrownText): string {
  const place = typeof thrown === "object" && thrown !== null ? places.get(thrown) : undefined;
  const where = place === undefined ? "" : `,"line":${place.line},"column":${place.column}`;
  const text = { message: quote(toGuestText(message)), stack: quote(toSourcePlaces(stack)) };
  return `{"name":${quote(name)},"message":${text.message},"stack":${text.stack}${where}}`;
}

/** Calls a function and gives its result, or `fallback` when it throws. */
export function attempt<Result>(action: () => Result, fallback: Result): Result {
  try {
    return action();
  } catch {
    return fallback;
  }
}
