import { brands } from "./deno.ts";
import { toGuestText } from "./paths.ts";
import { readSourceMap } from "./source-map.ts";
import { quote, SafeWeakMap, sliceText, toText } from "./primordials.ts";

const MAX_MESSAGE_CHARACTERS = 8_192;
const MAX_STACK_CHARACTERS = 16_384;

/** The program's position that caused an error, where its stack doesn't contain it. */
export interface ErrorPlace {
  line: number;
  column: number;
}

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

const places = new SafeWeakMap<ErrorPlace>();

/** Attaches a position in the program to what was thrown, where that is an object. */
export function placeError<Thrown>(thrown: Thrown, place: ErrorPlace): Thrown {
  if (typeof thrown === "object" && thrown !== null) places.set(thrown, place);
  return thrown;
}

function read(value: object, key: string, limit: number): string {
  try {
    const found = (value as Record<string, unknown>)[key];
    return found === undefined ? "" : sliceText(toText(found), 0, limit);
  } catch {
    return "";
  }
}

function textOf(thrown: unknown): string {
  try {
    return sliceText(toText(thrown), 0, MAX_MESSAGE_CHARACTERS);
  } catch {
    return "The program threw a value that has no text.";
  }
}

/** Converts any thrown value to the members of an error as JSON. Survives hostile getters. */
export function encodeThrown(thrown: unknown): string {
  const isObject = typeof thrown === "object" && thrown !== null;
  const isError = isObject && (brands.nativeError(thrown) || "message" in thrown);
  const name = (isError && read(thrown, "name", 256)) || "Error";
  const message = toGuestText(isError ? read(thrown, "message", MAX_MESSAGE_CHARACTERS) : textOf(thrown));
  const stack = isError ? toSourcePlaces(read(thrown, "stack", MAX_STACK_CHARACTERS)) : "";
  const place = isObject ? places.get(thrown) : undefined;
  const where = place === undefined ? "" : `,"line":${place.line},"column":${place.column}`;
  return `{"name":${quote(name)},"message":${quote(message)},"stack":${quote(stack)}${where}}`;
}

/** Calls a function and gives its result, or `fallback` when it throws. */
export function attempt<Result>(action: () => Result, fallback: Result): Result {
  try {
    return action();
  } catch {
    return fallback;
  }
}
