import { isBuiltin } from "node:module";
import { patchFileModule } from "./file-view.ts";
import { noteAll, noteDelays, noteWithBlocking } from "./finite-work.ts";
import { addLasting, addLive, addReader, replaceInRealms } from "./outer-realm.ts";
import { hardenPrinting } from "./harden.ts";
import { trackDatabases, type Database } from "./leftovers.ts";
import { trackOpenFiles } from "./open-files.ts";
import { confineProcess } from "./process.ts";

type Members = Record<string, unknown>;
type Names = Readonly<Record<string, readonly string[]>>;

/** A module of Node's. */
export interface NodeModule {
  exports: Members;
  /** Whether what a program does with it ends with the run. Otherwise the guest is replaced after it. */
  isConfined: boolean;
}

const CONFINED = new Set(
  "assert assert/strict buffer console constants crypto dns dns/promises events fs fs/promises net os path path/posix path/win32 perf_hooks process punycode querystring readline readline/promises sqlite stream stream/consumers stream/promises stream/web string_decoder timers timers/promises tty url util util/types zlib".split(
    " ",
  ),
);
const DNS = ["setServers", "setDefaultResultOrder"];
/** Functions that change something for every later run. */
const LASTING: Names = {
  crypto: ["setEngine", "setFips"],
  dns: DNS,
  "dns/promises": DNS,
  events: ["setMaxListeners"],
  net: ["setDefaultAutoSelectFamily", "setDefaultAutoSelectFamilyAttemptTimeout"],
  stream: ["setDefaultHighWaterMark"],
  util: ["setTraceSigInt"],
};
/** Functions that only read their arguments, whatever these are; `*` for all of a module. */
const READING: Names = {
  assert: ["*"],
  util: ["inspect", "format", "formatWithOptions", "isDeepStrictEqual"],
  "util/types": ["*"],
};

const loaded = new Map<string, Promise<NodeModule>>();

/**
 * Loads a module of Node's in the guest's own realm.
 *
 * @throws TypeError when there is none of the name.
 */
export function nodeModule(url: string): Promise<NodeModule> {
  const known = loaded.get(url);
  if (known !== undefined) return known;
  const loading = load(url);
  loaded.set(url, loading);
  loading.catch(() => loaded.delete(url));
  return loading;
}

async function load(url: string): Promise<NodeModule> {
  if (!isBuiltin(url)) throw new TypeError(`There is no module ${url}.`);
  const name = url.slice("node:".length);
  const namespace = (await import(url)) as Members;
  confineBuffers();
  if (name === "process") confineProcess();
  if (name === "util") await nodeModule("node:util/types");
  const main = (namespace["default"] ?? {}) as Members;
  patchFileModule(name, main);
  if (name === "fs") {
    trackOpenFiles(main);
    noteWithBlocking("fs", main["promises"] as Members, main);
  }
  if (name === "fs" || name === "zlib" || name === "crypto") noteWithBlocking(name, main);
  if (name === "stream" || name === "stream/promises") noteAll(name, main, ["pipeline"]);
  if (name === "timers/promises") noteDelays(main);
  // Its functions are noted there.
  if (name === "fs/promises") await nodeModule("node:fs");
  if (name === "sqlite") main["DatabaseSync"] = trackDatabases(main["DatabaseSync"] as new () => Database);
  for (const key of namesOf(LASTING, name, main)) register(addLasting, main[key]);
  for (const key of namesOf(READING, name, main)) register(addReader, main[key]);
  if (name === "util") prepareUtil(main);
  return { exports: exportsOf(namespace, main), isConfined: CONFINED.has(name) };
}

/** A module's own exports can't be changed, so what was patched in its main object is exported from there. */
function exportsOf(namespace: Members, main: Members): Members {
  const exports = Object.create(null) as Members;
  for (const key of Object.keys(namespace)) {
    const isData = key !== "default" && "value" in (Object.getOwnPropertyDescriptor(main, key) ?? {});
    exports[key] = isData ? main[key] : namespace[key];
  }
  return exports;
}

function namesOf(table: Names, name: string, members: Members): readonly string[] {
  const names = Object.hasOwn(table, name) ? (table[name] ?? []) : [];
  return names.includes("*") ? Object.keys(members) : names;
}

function register(add: (method: object) => void, member: unknown): void {
  if (typeof member === "function") add(member);
}

function prepareUtil(util: Members): void {
  hardenPrinting(util["inspect"] as object);
  replaceInRealms(util["inherits"] as object, "inherits");
  replaceInRealms(util["_extend"] as object, "extend");
  const inspect = util["inspect"] as Record<"colors" | "defaultOptions" | "styles", object>;
  for (const settings of [inspect.defaultOptions, inspect.colors, inspect.styles]) addLive(settings);
}

/** Gives each small buffer memory of its own, not a piece of memory that others have, too. */
export function confineBuffers(): void {
  const { Buffer } = globalThis as unknown as { Buffer: { poolSize: number } };
  if (Buffer.poolSize !== 0) Buffer.poolSize = 0;
}
