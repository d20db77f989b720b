import { SourceMap, type SourceMapPayload } from "node:module";
import { inSandboxTerms } from "./denied.ts";
import { toGuestText } from "./paths.ts";
import { freeze, parseJson, quote, sliceText } from "./primordials.ts";

/** The name of the script that makes the inside of a realm. */
export const INSIDE_URL = "cem:inside";
const PROGRAM_PLACE = /blob:program:(\d+):(\d+)/g;
let sourceMap: SourceMap | undefined;

/** Sets how places in the program as it runs lead to those in its source; `undefined` where they are the same. */
export function useSourceMap(url: string | undefined): void {
  sourceMap =
    url === undefined
      ? undefined
      : new SourceMap(JSON.parse(atob(url.slice(url.indexOf(",") + 1))) as SourceMapPayload);
}

/** Puts places of the source in place of those of the program as it runs. */
export function toSourcePlaces(text: string): string {
  const map = sourceMap;
  if (map === undefined) return text;
  return text.replaceAll(PROGRAM_PLACE, (place, line: string, column: string) => {
    // The map counts the compiler's line before the program too.
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

/** A printed text with the places of stacks as in the program's source, and without the frames of the guest runner. */
export function withSourceFrames(text: string): string {
  const isPlaced = text.includes("blob:program:");
  const shown = isPlaced ? toSourcePlaces(text).replaceAll("blob:program:", "program.ts:") : text;
  if (!shown.includes(INSIDE_URL) && !shown.includes(RUNNER_FOLDER)) return shown;
  const kept: string[] = [];
  for (const line of shown.split("\n")) {
    const own = Math.max(line.lastIndexOf(INSIDE_URL), line.lastIndexOf(RUNNER_FOLDER));
    const end = own === -1 ? null : OWN_FRAME_END.exec(line.slice(own));
    if (end === null || !line.trimStart().startsWith("at ")) kept.push(line);
    // Behind the last frame may stand the error's members, and what was printed after it.
    else kept.push(`${kept.pop() ?? ""}${line.slice(own + end[0].length)}`);
  }
  return kept.join("\n");
}

/** The most names that an error lists. */
const MAX_LISTED = 20;

/** The first of the names, as a sentence. */
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

/** A path that names the folder in which relative paths start. */
const DOUBLED = /(?:\/workspace|no module \.)\/workspace\//;

/** The host has the same limit. What a program threw is cut before it is told in other words, which may be longer. */
const MAX_MESSAGE_CHARACTERS = 16_384;

/** The message of a failed run, for what its realm has told as JSON. */
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
