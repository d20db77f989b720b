import { SourceMap, type SourceMapPayload } from "node:module";
import { inSandboxTerms } from "./denied.ts";
import { toGuestText } from "./paths.ts";
import { freeze, parseJson, quote } from "./primordials.ts";

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
    const found = map.findEntry(Number(line) - 1, Number(column) - 1);
    if (!("originalLine" in found)) return place;
    return `blob:program:${found.originalLine + 1}:${found.originalColumn + 1}`;
  });
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

/** A value that a program threw, as its realm reports it. */
interface Thrown {
  kind: "syntax" | "exception";
  name: string;
  message: string;
  stack: string;
}

/** A path that names the folder in which relative paths start. */
const DOUBLED = /(?:\/workspace|no module \.)\/workspace\//;

/** The message of a failed run, for what its realm has told as JSON. */
export function failedMessage(json: string): string {
  const { kind, name, message, stack } = parseJson(json) as Thrown;
  const told = inSandboxTerms(toGuestText(message));
  const shown = DOUBLED.test(told) ? `${told.replace(/\.$/, "")}. Relative paths start in /workspace.` : told;
  const text = { message: quote(shown), stack: quote(toSourcePlaces(stack)) };
  const error = `{"name":${quote(name)},"message":${text.message},"stack":${text.stack}}`;
  return `{"type":"failed","kind":"${kind}","error":${error}}`;
}
