import { hasPendingCalls } from "./calls.ts";
import { deno, pendingWork } from "./deno.ts";
import { runMark, setRunMark } from "./paths.ts";
import {
  apply,
  construct,
  defineProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  includesText,
  is,
  ownKeys,
  ProxyConstructor,
  startsWith,
} from "./primordials.ts";

/** In the address of a server's own file where tools on the host stand in front of it. */
const OWN_FILE = "?own-file";

/** One property as it was before any program ran. */
interface Known {
  key: string | symbol;
  value: unknown;
  get: unknown;
  set: unknown;
}

interface Watched {
  object: object;
  properties: Known[];
}

const watched: Watched[] = [];
let doubt = false;
let runs = 0;
let requireCache: object = {};
let cachedModules = 0;

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function watch(object: object, seen: Set<object>): void {
  if (seen.has(object)) return;
  seen.add(object);
  const properties: Known[] = [];
  const names = ownKeys(object);
  for (let index = 0; index < names.length; index += 1) {
    const key = names[index] as string | symbol;
    const { value, get, set } = getOwnPropertyDescriptor(object, key) ?? {};
    properties[index] = { key, value, get, set };
  }
  watched[watched.length] = { object, properties };
}

/** The language's and the runtime's own objects that every program shares. */
function watchGlobals(): void {
  const seen = new Set<object>();
  watch(globalThis, seen);
  watch(deno, seen);
  const globals = watched[0] as Watched;
  for (let index = 0; index < globals.properties.length; index += 1) {
    const { value } = globals.properties[index] as Known;
    if (!isObject(value) || value === globalThis) continue;
    watch(value, seen);
    const prototype = getOwnPropertyDescriptor(value, "prototype")?.value as unknown;
    if (isObject(prototype)) watch(prototype, seen);
  }
  const iterator = getPrototypeOf([][Symbol.iterator]()) as object;
  const hidden: unknown[] = [
    iterator,
    getPrototypeOf(iterator),
    getPrototypeOf(Uint8Array),
    getPrototypeOf(Uint8Array.prototype),
  ];
  hidden.push(
    getPrototypeOf(async () => {}),
    getPrototypeOf(function* () {}),
    getPrototypeOf(async function* () {}),
  );
  for (const object of hidden) watch(object as object, seen);
}

function isChanged({ object, properties }: Watched): boolean {
  const names = ownKeys(object);
  if (names.length !== properties.length) return true;
  for (let index = 0; index < properties.length; index += 1) {
    const known = properties[index] as Known;
    const now = getOwnPropertyDescriptor(object, known.key);
    if (now === undefined) return true;
    if (is(now.value, known.value) && now.get === known.get && now.set === known.set) continue;
    // What the runtime loads when it is first asked for takes the place of its getter.
    const isLoaded = object === globalThis && known.get !== undefined && now.get === undefined;
    if (!isLoaded || !isOwnValue(known, now.value)) return true;
    known.value = now.value;
    known.get = undefined;
    known.set = undefined;
  }
  return false;
}

function isOwnValue({ key, get }: Known, value: unknown): boolean {
  return key === "process" || apply(get as () => unknown, globalThis, []) === value;
}

/** Whatever threads do is out of sight, so a program that starts one has this guest to itself. */
function noteWorkers(): void {
  const { Worker } = globalThis as unknown as { Worker: new () => object };
  const noted = new ProxyConstructor(Worker, {
    construct(target, args, newTarget) {
      doubt = true;
      return construct(target, args, newTarget) as object;
    },
  });
  defineProperty(globalThis, "Worker", {
    value: noted,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}

interface ModuleHooks {
  registerHooks(hooks: {
    resolve: (specifier: string, context: object, next: NextResolve) => Resolved;
  }): void;
  Module: { _cache: object };
}
type Resolved = { url: string; shortCircuit?: boolean };
type NextResolve = (specifier: string, context: object) => Resolved;

/** Modules of the workspace are loaded anew in each run: the run's number is part of where they come from. */
async function numberModules(bootUrl: string): Promise<void> {
  const own = bootUrl.slice(0, bootUrl.lastIndexOf("/") + 1);
  const hooks = (await import("node:module")) as unknown as ModuleHooks;
  ({ _cache: requireCache } = hooks.Module);
  cachedModules = ownKeys(requireCache).length;
  hooks.registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const { url } = resolved;
      // Node's modules and the client have stand-ins that are files, and stay as they are.
      if (startsWith(specifier, "node:") || startsWith(specifier, "cem:") || startsWith(url, own))
        return resolved;
      // What stands for a server with tools on the host, and the server's own file behind it.
      if (startsWith(url, "data:")) return { url: `${url}#${runMark()}`, shortCircuit: true };
      if (includesText(url, OWN_FILE)) return { url: `${url}&${runMark()}`, shortCircuit: true };
      if (!startsWith(url, "file:///") || includesText(url, "?")) return resolved;
      return { url: url + runMark(), shortCircuit: true };
    },
  });
}

/** Makes this guest fit for more than one run. */
export async function prepareForReuse(bootUrl: string): Promise<void> {
  await numberModules(bootUrl);
  noteWorkers();
  pendingWork.observe();
  watchGlobals();
}

/** Counts a run; its modules are its own. */
export function beginReusedRun(): void {
  runs += 1;
  setRunMark(`?run=${runs}`);
}

/** True when nothing of the last run can reach the next: no call, timer, file, thread or changed global is left. */
export function isPristine(): boolean {
  if (doubt || hasPendingCalls() || pendingWork.isLeft()) return false;
  if (ownKeys(requireCache).length !== cachedModules) return false;
  for (let index = 0; index < watched.length; index += 1) {
    if (isChanged(watched[index] as Watched)) return false;
  }
  return true;
}
