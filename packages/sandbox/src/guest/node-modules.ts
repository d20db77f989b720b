import { isBuiltin } from "node:module";
import { patchFileModule } from "./file-view.ts";
import { addReader, addShared } from "./outer-realm.ts";

type Exports = Record<string, unknown>;
type Callable = (...args: unknown[]) => unknown;

/** A module of Node's. */
export interface NodeModule {
  exports: Exports;
  /** Whether what a program does with it ends with the run. Otherwise the guest is replaced after it. */
  isConfined: boolean;
}

const CONFINED = new Set(
  "assert assert/strict buffer console constants crypto dns dns/promises events fs fs/promises net os path path/posix path/win32 perf_hooks process punycode querystring readline readline/promises sqlite stream stream/consumers stream/promises stream/web string_decoder timers timers/promises tty url util util/types zlib".split(
    " ",
  ),
);
/** Functions of these modules that change something for every later run. */
const LASTING: Exports = {
  events: ["setMaxListeners"],
  stream: ["setDefaultHighWaterMark"],
  dns: ["setServers", "setDefaultResultOrder"],
  net: ["setDefaultAutoSelectFamily", "setDefaultAutoSelectFamilyAttemptTimeout"],
  process: ["umask", "setUncaughtExceptionCaptureCallback", "getBuiltinModule", "binding", "dlopen"],
};
/** Functions that only read their arguments, whatever these are. */
const READING: Exports = { util: ["inspect", "format", "formatWithOptions", "isDeepStrictEqual"] };

const loaded = new Map<string, Promise<NodeModule>>();
let onLasting: () => void = () => {};

/** Sets what is called when a program changes something for every later run. */
export function onLastingChange(listener: () => void): void {
  onLasting = listener;
}

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
  const namespace = (await import(url)) as Exports;
  if (name === "process") confineProcess();
  const main = namespace["default"];
  // What is patched there is exported by its name, too: a module's own exports can't be changed.
  const members = (main ?? {}) as Exports;
  confineBuffers();
  patchFileModule(name, members);
  if (name !== "process") for (const key of listed(LASTING, name)) patch(members, key, noted);
  for (const key of listed(READING, name)) if (typeof members[key] === "function") addReader(members[key]);
  // The types of objects are looked at as they are.
  for (const test of Object.values(name === "util" ? (members["types"] as Exports) : {}))
    addReader(test as object);
  const exports = Object.create(null) as Exports;
  for (const key of Object.keys(namespace)) {
    exports[key] = Object.hasOwn(members, key) ? members[key] : namespace[key];
  }
  exports["default"] = main;
  return { exports, isConfined: CONFINED.has(name) };
}

let areBuffersConfined = false;

/** Gives each small buffer memory of its own, not a piece of memory that others have, too. */
export function confineBuffers(): void {
  if (areBuffersConfined) return;
  areBuffersConfined = true;
  const { Buffer } = globalThis as unknown as { Buffer: { poolSize: number; isBuffer: Callable } };
  Buffer.poolSize = 0;
  const { isBuffer } = Buffer;
  // A buffer of another realm has a prototype from there.
  Buffer.isBuffer = (value) =>
    isBuffer(value) === true || (ArrayBuffer.isView(value) && value.constructor.name === "Buffer");
}

interface Process {
  exitCode: number | undefined;
  eventNames(): (string | symbol)[];
  listeners(event: string | symbol): ((...args: unknown[]) => void)[];
  removeListener(event: string | symbol, listener: (...args: unknown[]) => void): void;
}

let process: Process | undefined;
/** The runtime's own listeners of the process. */
const ownListeners = new Set<unknown>();

/** Prepares the process object for programs. */
export function confineProcess(): void {
  if (process !== undefined) return;
  process = (globalThis as unknown as { process: Process }).process;
  addShared(process);
  confineBuffers();
  for (const key of listed(LASTING, "process")) patch(process as unknown as Exports, key, noted);
  for (const event of process.eventNames()) for (const one of process.listeners(event)) ownListeners.add(one);
}

/** Removes the listeners that a program has added to the process. */
export function resetProcess(): void {
  for (const event of process?.eventNames() ?? []) {
    for (const listener of process?.listeners(event) ?? []) {
      if (!ownListeners.has(listener)) process?.removeListener(event, listener);
    }
  }
}

function listed(table: Exports, name: string): readonly string[] {
  return Object.hasOwn(table, name) ? (table[name] as string[]) : [];
}

function patch(members: Exports, key: string, change: (original: Callable) => Callable): void {
  const original = members[key];
  if (typeof original === "function") members[key] = change(original as Callable);
}

function noted(original: Callable): Callable {
  return function (this: unknown, ...args) {
    onLasting();
    return original.apply(this, args);
  };
}
