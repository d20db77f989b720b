import { SourceMap, type SourceMapPayload } from "node:module";
import { deno } from "./deno.ts";
import { inSandboxTerms } from "./denied.ts";
import { toGuestText } from "./paths.ts";
import { apply, freeze, parseJson, quote, sliceText, startsWith } from "./primordials.ts";

/** The URL of the script that creates the inside of a realm. */
export const INSIDE_URL = "cem:inside";
/** The host recognizes the program's stack frames by this URL. */
export const PROGRAM_URL = "blob:program";
const PLACE = /(blob:program|(?:file:\/\/)?\/workspace\/[^\s():]{1,256}):(\d+):(\d+)/g;
/** Source maps of the running program and its modules, by URL. */
let sourceMaps: Record<string, SourceMap> | undefined;

/** Sets the source map of the running program or a module of it; `undefined` when positions are the same as in its source. */
export function useSourceMap(url: string, map: string | undefined): void {
  if (url === PROGRAM_URL) sourceMaps = undefined;
  if (map === undefined) return;
  const payload = JSON.parse(atob(map.slice(map.indexOf(",") + 1))) as SourceMapPayload;
  sourceMaps ??= Object.create(null) as Record<string, SourceMap>;
  sourceMaps[url] = new SourceMap(payload);
}

/** Replaces positions in the running program and its modules by positions in their sources. */
export function toSourcePlaces(text: string): string {
  const maps = sourceMaps;
  if (maps === undefined) return text;
  return text.replaceAll(PLACE, (place, url: string, line: string, column: string) => {
    // The program's map also counts the line that the compiler puts before it.
    const before = url === PROGRAM_URL ? 0 : 1;
    const found = (maps[url] ?? maps[`file://${url}`])?.findEntry(Number(line) - before, Number(column) - 1);
    if (found === undefined || !("originalLine" in found)) return place;
    return `${url}:${found.originalLine + before}:${found.originalColumn + 1}`;
  });
}

const RUNNER_FOLDER = new URL(".", import.meta.url).href;
/** The same as a URL and as a path. */
export const RUNNER_FOLDERS: readonly string[] = freeze([
  RUNNER_FOLDER,
  decodeURIComponent(new URL(RUNNER_FOLDER).pathname),
]);

/** The beginnings of URLs in frames of the guest runner and the runtime. */
const INNER_URLS: readonly string[] = freeze([INSIDE_URL, RUNNER_FOLDER, " ext:", "(ext:"]);
const OWN_FRAME_END = /^.[^\s()]*:\d+:\d+\)?/;

/** Maps stack positions in a printed text to the program's source, and removes the frames of the guest runner and the runtime. */
export function withSourceFrames(text: string): string {
  const shown = toSourcePlaces(text).replaceAll(`${PROGRAM_URL}:`, "program.ts:");
  if (!INNER_URLS.some((url) => shown.includes(url))) return shown;
  const kept: string[] = [];
  for (const line of shown.split("\n")) {
    const own = Math.max(...INNER_URLS.map((url) => line.lastIndexOf(url)));
    const end = own === -1 ? null : OWN_FRAME_END.exec(line.slice(own));
    if (end === null || !line.trimStart().startsWith("at ")) kept.push(line);
    // The error's members and later output may follow the last frame.
    else kept.push(`${kept.pop() ?? ""}${line.slice(own + end[0].length)}`);
  }
  return kept.join("\n");
}

const MAX_LISTED = 20;

export function listed(beginning: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return ` ${beginning} ${names.slice(0, MAX_LISTED).join(", ")}${more}.`;
}

export class MissingModule extends Error {
  readonly url: string;
  constructor(url: string) {
    super(`There is no module ${new URL(url).pathname}.`);
    this.url = url;
  }
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

/** Captured before any program runs. */
const exitCode = Object.getOwnPropertyDescriptor(deno, "exitCode")?.get;

/** The outcome of a program that has ended, which is a failure if it has set another exit code than 0. */
export function withExitCode(message: string): string {
  const code = exitCode === undefined ? 0 : (apply(exitCode, deno, []) as number);
  if (code === 0 || !startsWith(message, '{"type":"done"')) return message;
  const told = `The program set its exit code to ${code}, so it failed. Leave it at 0 to return a value.`;
  return failedMessage(`{"kind":"exception","name":"ExitError","message":${quote(told)},"stack":""}`);
}

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
