import { SourceMap, type SourceMapPayload } from "node:module";
import { inSandboxTerms } from "./denied.ts";
import { toGuestText } from "./paths.ts";
import { freeze, parseJson, quote, sliceText } from "./primordials.ts";

/** The URL of the script that creates the inside of a realm. */
export const INSIDE_URL = "cem:inside";
const PROGRAM_PLACE = /blob:program:(\d+):(\d+)/g;
let sourceMap: SourceMap | undefined;

/** Sets the source map of the running program; `undefined` when positions are the same as in its source. */
export function useSourceMap(url: string | undefined): void {
  sourceMap =
    url === undefined
      ? undefined
      : new SourceMap(JSON.parse(atob(url.slice(url.indexOf(",") + 1))) as SourceMapPayload);
}

/** Replaces positions in the running program by positions in its source. */
export function toSourcePlaces(text: string): string {
  const map = sourceMap;
  if (map === undefined) return text;
  return text.replaceAll(PROGRAM_PLACE, (place, line: string, column: string) => {
    // The map also counts the line that the compiler puts before the program.
    const found = map.findEntry(Number(line), Number(column) - 1);
    if (!("originalLine" in found)) return place;
    return `blob:program:${found.originalLine}:${found.originalColumn + 1}`;
  });
}

const RUNNER_FOLDER = new URL(".", import.meta.url).href;
/** The same as a URL and as a path. */
export const RUNNER_FOLDERS: readonly string[] = freeze([
  RUNNER_FOLDER,
  decodeURIComponent(new URL(RUNNER_FOLDER).pathname),
]);

const OWN_FRAME_END = /^[^\s()]*:\d+:\d+\)?/;

/** Maps stack positions in a printed text to the program's source, and removes the frames of the guest runner. */
export function withSourceFrames(text: string): string {
  const isPlaced = text.includes("blob:program:");
  const shown = isPlaced ? toSourcePlaces(text).replaceAll("blob:program:", "program.ts:") : text;
  if (!shown.includes(INSIDE_URL) && !shown.includes(RUNNER_FOLDER)) return shown;
  const kept: string[] = [];
  for (const line of shown.split("\n")) {
    const own = Math.max(line.lastIndexOf(INSIDE_URL), line.lastIndexOf(RUNNER_FOLDER));
    const end = own === -1 ? null : OWN_FRAME_END.exec(line.slice(own));
    if (end === null || !line.trimStart().startsWith("at ")) kept.push(line);
    // The error's members and later output may follow the last frame.
    else kept.push(`${kept.pop() ?? ""}${line.slice(own + end[0].length)}`);
  }
  return kept.join("\n");
}

/** Maximum number of names that an error lists. */
const MAX_LISTED = 20;

/** Lists the first names, as a sentence. */
export function listed(beginning: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return ` ${beginning} ${names.slice(0, MAX_LISTED).join(", ")}${more}.`;
}

/** A value that a program threw, as its realm reports it. */
interface Thrown {
  kind: "syntax" | "exception";
  name: string;
  message: string;
  stack: string;
}

/** A path that repeats the folder in which relative paths start. */
const DOUBLED = /(?:\/workspace|no module \.)\/workspace\//;

/** The host has the same limit. A thrown error is cut before it is rephrased, which may make it longer. */
const MAX_MESSAGE_CHARACTERS = 16_384;

/** Creates the message of a failed run from what its realm reported as JSON. */
export function failedMessage(json: string): string {
  const { kind, name, message, stack } = parseJson(json) as Thrown;
  const told = inSandboxTerms(toGuestText(message));
  const shown = DOUBLED.test(told) ? `${told.replace(/\.$/, "")}. Relative paths start in /workspace.` : told;
  const text = {
    message: quote(sliceText(shown, 0, MAX_MESSAGE_CHARACTERS)),
    stack: quote(toSourcePlaces(stack)),
  };
  const error = `{"name":${quote(name)},"message":${text.message},"stack":${text.stack}}`;
  return `{"type":"failed","kind":"${kind}","error":${error}}`;
}
