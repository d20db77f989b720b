import { hasPendingCalls } from "./calls.ts";
import { deno, pendingWork } from "./deno.ts";
import { evaluateProgram, prepareToEvaluate } from "./evaluate.ts";
import { useClientModule } from "./loader.ts";
import { inThisRun, setRunMark } from "./paths.ts";
import {
  apply,
  construct,
  create,
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  is,
  ownKeys,
  ProxyConstructor,
  SafeWeakMap,
  startsWith,
} from "./primordials.ts";

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
const seen = new SafeWeakMap<true>();
let doubt = false;
let isPrepared = false;
let runs = 0;
let requireCache: object = {};
let cachedModules = 0;

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function watch(object: object): void {
  if (seen.get(object) === true) return;
  seen.set(object, true);
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
  watch(globalThis);
  watch(deno);
  const globals = watched[0] as Watched;
  for (let index = 0; index < globals.properties.length; index += 1) {
    const { value } = globals.properties[index] as Known;
    if (!isObject(value) || value === globalThis) continue;
    watch(value);
    const prototype = getOwnPropertyDescriptor(value, "prototype")?.value as unknown;
    if (isObject(prototype)) watch(prototype);
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
  for (const object of hidden) watch(object as object);
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

/** Threads can't be inspected, so a guest in which one was started is not reused. */
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

/** Storage that outlives a run. */
const STORES = freeze(["localStorage", "sessionStorage", "caches", "indexedDB"]);

/** A guest whose program used such storage is not reused. */
function noteStores(): void {
  for (let index = 0; index < STORES.length; index += 1) {
    const name = STORES[index] as string;
    const known = getOwnPropertyDescriptor(globalThis, name);
    if (known === undefined) continue;
    const { get, set, value, enumerable = false } = known;
    defineProperty(globalThis, name, {
      get(): unknown {
        doubt = true;
        return get === undefined ? (value as unknown) : apply(get, globalThis, []);
      },
      ...(set === undefined ? {} : { set }),
      enumerable,
      configurable: true,
    });
  }
}

type Require = (name: string) => unknown;

/** Specifiers that give access to Node's modules, or threads, past the hook for imports. */
const PAST_THE_HOOK = freeze(["node:module", "node:worker_threads", "node:process"]);
const builtins = create(null) as Record<string, true>;

/** Node's modules are shared by all runs, as the globals are: each is recorded before a program gets it. */
function watchBuiltin(url: string, require: Require): void {
  if (builtins[url] === true) return;
  builtins[url] = true;
  for (let index = 0; index < PAST_THE_HOOK.length; index += 1) {
    if (PAST_THE_HOOK[index] === url) doubt = true;
  }
  if (doubt) return;
  const exports = require(url);
  if (!isObject(exports)) return;
  const first = watched.length;
  watch(exports);
  const members = (watched[first] as Watched).properties;
  for (let index = 0; index < members.length; index += 1) {
    const { value } = members[index] as Known;
    if (!isObject(value) || value === exports) continue;
    watch(value);
    const prototype = getOwnPropertyDescriptor(value, "prototype")?.value as unknown;
    if (isObject(prototype)) watch(prototype);
  }
}

/** `process.getBuiltinModule` returns them without an import. */
function noteBuiltinsOf(process: { getBuiltinModule: Require }): void {
  const { getBuiltinModule } = process;
  const noted = new ProxyConstructor(getBuiltinModule, {
    apply(target, self, args) {
      doubt = true;
      return apply(target, self, args);
    },
  });
  defineProperty(process, "getBuiltinModule", { value: noted, writable: true, configurable: true });
}

interface ModuleHooks {
  createRequire(url: string): Require;
  registerHooks(hooks: {
    resolve: (specifier: string, context: object, next: NextResolve) => Resolved;
  }): void;
  Module: { _cache: object };
}
type Resolved = { url: string; shortCircuit?: boolean };
type NextResolve = (specifier: string, context: object) => Resolved;

/** Reloads the workspace's modules in each run: the run's number is part of their URL. */
async function numberModules(bootUrl: string): Promise<void> {
  const own = bootUrl.slice(0, bootUrl.lastIndexOf("/") + 1);
  const hooks = (await import("node:module")) as unknown as ModuleHooks;
  ({ _cache: requireCache } = hooks.Module);
  cachedModules = ownKeys(requireCache).length;
  const require = hooks.createRequire(bootUrl);
  hooks.registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const { url } = resolved;
      if (isPrepared && startsWith(url, "node:")) watchBuiltin(url, require);
      // The shims of Node's modules and the client are files, and shared by all runs.
      if (startsWith(specifier, "node:") || startsWith(specifier, "cem:") || startsWith(url, own))
        return resolved;
      if (!startsWith(url, "file:///") && !startsWith(url, "data:")) return resolved;
      return { url: inThisRun(url), shortCircuit: true };
    },
  });
}

const WARM_UP = "export default async function (value: unknown) { return value; }";

/** Prepares this guest for more than one run. */
export async function prepareForReuse(bootUrl: string): Promise<void> {
  await numberModules(bootUrl);
  useClientModule((await import(bootUrl)) as Record<string, unknown>);
  await prepareToEvaluate();
  // Loads what the runtime loads lazily, before the globals are recorded.
  await evaluateProgram(WARM_UP)?.({});
  noteWorkers();
  noteStores();
  const node = (await import("node:process")) as unknown as { default: { getBuiltinModule: Require } };
  noteBuiltinsOf(node.default);
  pendingWork.observe();
  watchGlobals();
  isPrepared = true;
}

/** Starts a run with modules of its own. */
export function beginReusedRun(): void {
  runs += 1;
  setRunMark(`run=${runs}`);
}

/** Whether nothing of the last run can affect the next: no pending call, timer, open file, thread or changed global. */
export function isPristine(): boolean {
  if (doubt || hasPendingCalls() || pendingWork.isLeft()) return false;
  if (ownKeys(requireCache).length !== cachedModules) return false;
  for (let index = 0; index < watched.length; index += 1) {
    if (isChanged(watched[index] as Watched)) return false;
  }
  return true;
}
