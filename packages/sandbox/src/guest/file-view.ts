import { normalize } from "node:path/posix";
import { deno } from "./deno.ts";
import { changeProcess } from "./global-process.ts";
import { toGuestPath, toGuestText, toHostPath } from "./paths.ts";
import { apply, execPattern } from "./primordials.ts";
import { loadNode } from "./withheld.ts";

type Callable = (...args: unknown[]) => unknown;
type Functions = Record<string, unknown>;

/** Functions of Deno that take one path first, and those that take two. */
const ONE_PATH =
  "readTextFile readFile writeTextFile writeFile open create mkdir remove readDir stat lstat realPath readLink truncate chmod chown utime watchFs chdir";
const TWO_PATHS = "rename copyFile link symlink";
const TEMPORARY = "makeTempDir makeTempFile";
const NODE_TWO_PATHS = new Set(["rename", "copyFile", "link", "symlink", "cp"]);

/** Captured before it is patched. */
const currentFolder = deno["cwd"] as () => string;

/** The host path for a guest path. `..` can't lead to a folder of the host. */
function hostPath(path: string): string {
  return toHostPath(normalize(path.startsWith("/") ? path : `${toGuestPath(currentFolder())}/${path}`));
}

function hostArgument(value: unknown): unknown {
  if (typeof value === "string") return hostPath(value);
  if (Array.isArray(value)) return value.map(hostArgument);
  if (!(value instanceof URL)) return value;
  const url = new URL(value.href);
  if (url.protocol === "file:") url.pathname = hostPath(url.pathname);
  return url;
}

/**
 * Wraps a function to map its first arguments from guest paths to host paths, keeping its properties.
 *
 * @param hasCallback - Whether a callback argument receives an error.
 */
function withPaths(original: Callable, count: number, hasCallback = false): Callable {
  return new Proxy(original, {
    apply(target, self, args: unknown[]) {
      const mapped = args.map((value, index) => {
        if (hasCallback && typeof value === "function") return withCleanErrors(value as Callable);
        return index < count ? hostArgument(value) : value;
      });
      return withGuestErrors(() => Reflect.apply<unknown, unknown[], unknown>(target, self, mapped));
    },
  });
}

/** Removes host paths from what an action throws or rejects with. */
function withGuestErrors(action: () => unknown): unknown {
  try {
    const result = action();
    return result instanceof Promise ? result.catch(rethrow) : result;
  } catch (error) {
    return rethrow(error);
  }
}

/** Wraps a function that receives errors. */
function withCleanErrors(original: Callable): Callable {
  return function (this: unknown, ...args) {
    args.forEach(cleanError);
    return original.apply(this, args);
  };
}

function rethrow(error: unknown): never {
  cleanError(error);
  throw error;
}

function cleanError(error: unknown): void {
  if (!(error instanceof Error)) return;
  // An error with two paths repeats them there.
  const { info } = error as { info?: unknown };
  for (const part of [error, info]) {
    if (typeof part !== "object" || part === null) continue;
    for (const name of ["message", "stack", "path", "dest"]) {
      const text = Object.getOwnPropertyDescriptor(part, name)?.value as unknown;
      if (typeof text === "string") (part as Functions)[name] = toGuestText(text);
    }
  }
}

const PATH_MEMBERS = ["path", "parentPath", "file", "paths"];

function toGuestValue(value: unknown): unknown {
  if (typeof value === "string") return toGuestPath(value);
  if (value instanceof Uint8Array) return Buffer.from(toGuestPath(Buffer.from(value).toString()));
  if (Array.isArray(value)) return value.map(toGuestValue);
  if (typeof value !== "object" || value === null) return value;
  for (const name of PATH_MEMBERS) {
    const member = (value as Functions)[name];
    if (typeof member !== "string" && !Array.isArray(member)) continue;
    Object.defineProperty(value, name, { value: toGuestValue(member), configurable: true, enumerable: true });
  }
  return value;
}

/** Wraps a function to return guest paths, as its result or to its callback. */
function withGuestResult(original: Callable): Callable {
  return function (this: unknown, ...args) {
    const given = args.map((value) =>
      typeof value === "function" ? (...found: unknown[]) => value(...found.map(toGuestValue)) : value,
    );
    const result = original.apply(this, given);
    return result instanceof Promise ? result.then(toGuestValue) : toGuestValue(result);
  };
}

function patch(functions: Functions, name: string, change: (original: Callable) => Callable): void {
  const original = functions[name];
  if (typeof original === "function") functions[name] = change(original as Callable);
}

/** The names of functions, with and without the suffix `Sync`. */
function both(names: string): string[] {
  return names.split(" ").flatMap((name) => [name, `${name}Sync`]);
}

function patchDeno(): void {
  for (const name of both(ONE_PATH)) patch(deno, name, (original) => withPaths(original, 1));
  for (const name of both(TWO_PATHS)) patch(deno, name, (original) => withPaths(original, 2));
  for (const name of both(TEMPORARY)) {
    patch(deno, name, (original) => (options) => {
      const dir = hostArgument((options as { dir?: string } | undefined)?.dir ?? "/workspace");
      return original({ ...(options as object), dir });
    });
  }
  for (const name of ["cwd", ...both("realPath readLink makeTempDir makeTempFile")])
    patch(deno, name, withGuestResult);
  patch(deno, "watchFs", (original) => (...args) => {
    const watcher = original(...args) as AsyncIterator<unknown>;
    const next = watcher.next.bind(watcher);
    watcher.next = async () => {
      const event = await next();
      toGuestValue(event.value);
      return event;
    };
    return watcher;
  });
}

let isPatched = false;
/** Whether the kernel hides the host's files as well. */
let hasOwnView = false;

/**
 * Patches a Node module when the guest has no file system view of its own: file functions accept guest paths, and their
 * results, errors and events contain only guest paths. A program that searches for host paths can still find them, in
 * the filter of a copy or in a database query.
 */
export function patchNodeModule(name: string, members: Functions): void {
  if (!isPatched || patchedModules.has(members)) return;
  // `promises` of node:fs and node:fs/promises are the same object.
  patchedModules.add(members);
  if (name === "fs" || name === "fs/promises") patchNodeFunctions(members);
  if (name === "fs") patchNodeModule("fs/promises", members["promises"] as Functions);
  if (name === "sqlite") patchDatabases(members);
  if (name === "module") patch(members, "_load", (original) => withPatchedModule(original));
  if (name === "process") patchProcess(members);
  if (hasOwnView) return;
  if (name === "module") patchLoaders(members);
  if (name === "vm")
    members["constants"] = {
      ...(members["constants"] as object),
      USE_MAIN_CONTEXT_DEFAULT_LOADER: undefined,
    };
  for (const member of UNAVAILABLE[name] ?? []) patch(members, member, () => unavailable);
}

const patchedModules = new WeakSet<object>();
/**
 * Functions that would reveal where the guest is on the host: by memory snapshots, or by modules that the runtime
 * itself loads, which are not patched either.
 */
const UNAVAILABLE: Readonly<Record<string, readonly string[]>> = {
  module: ["registerHooks"],
  v8: ["getHeapSnapshot", "writeHeapSnapshot"],
  repl: ["start", "REPLServer"],
};

function unavailable(): never {
  throw new Error("This is not available at isolation level permissions.");
}

/** Prevents the runtime from loading code of a program itself. */
function patchLoaders({ prototype, _extensions }: Functions): void {
  patch(prototype as Functions, "_compile", () => unavailable);
  for (const extension of Object.keys(_extensions as Functions)) {
    if (extension !== ".json") patch(_extensions as Functions, extension, () => unavailable);
  }
}

/** Wraps a function that returns a module by name, to patch that module. */
function withPatchedModule(original: Callable): Callable {
  return new Proxy(original, {
    apply(target, self, args: unknown[]) {
      const name = String(args[0]).replace(/^node:/, "");
      if (name.startsWith("internal/")) unavailable();
      const found: unknown = Reflect.apply(target, self, args);
      if (typeof found === "object" || typeof found === "function") patchNodeModule(name, found as Functions);
      return found;
    },
  });
}

function patchNodeFunctions(functions: Functions): void {
  for (const name of Object.keys(functions)) {
    if (!/^[a-z]/.test(name)) continue;
    const count = NODE_TWO_PATHS.has(name.replace(/Sync$/, "")) ? 2 : 1;
    // A listener must stay the same function, so that it can be removed.
    patch(functions, name, (original) => withPaths(original, count, !/watch/i.test(name)));
  }
  const giving =
    "realpath mkdir mkdtemp mkdtempDisposable readlink opendir readdir createReadStream createWriteStream";
  for (const name of both(giving)) patch(functions, name, withGuestResult);
  for (const name of ["createReadStream", "createWriteStream"]) {
    patch(functions, name, (original) => (...args) => {
      const stream = original(...args) as { emit: Callable };
      stream.emit = withCleanErrors(stream.emit);
      return stream;
    });
  }
}

/** Maps the path of a database. The empty name and `:memory:` mean a database in memory. */
function databasePlace(path: unknown): unknown {
  return path === ":memory:" || path === "" ? path : hostArgument(path);
}

/** Refuses to set SQLite's folder for temporary files: it would reveal which folders exist on the host, and write there. */
function withoutTemporaryFolder(original: Callable): Callable {
  return function (this: unknown, ...args) {
    if (typeof args[0] === "string" && execPattern(/temp_store_directory/i, args[0]) !== null) unavailable();
    return apply(original, this, args);
  };
}

function patchDatabases(sqlite: Functions): void {
  const { prototype: database } = sqlite["DatabaseSync"] as { prototype: Functions };
  patch(database, "location", withGuestResult);
  const { prototype } = sqlite["StatementSync"] as { prototype: Functions };
  for (const name of ["all", "get"]) patch(prototype, name, withGuestResult);
  if (!hasOwnView) {
    const inherited = Object.getPrototypeOf(database) as Functions;
    for (const name of ["exec", "prepare"]) patch(inherited, name, withoutTemporaryFolder);
    patch(inherited, "createTagStore", () => unavailable);
  }
  patch(sqlite, "DatabaseSync", (original) => {
    return new Proxy(original, {
      construct: (target, [path, ...rest]: unknown[], newTarget) =>
        withGuestErrors(() => Reflect.construct(target, [databasePlace(path), ...rest], newTarget)) as object,
    });
  });
}

function patchProcess(process: Functions): void {
  patch(process, "cwd", withGuestResult);
  patch(process, "chdir", (chdir) => withPaths(chdir, 1));
  patch(process, "getBuiltinModule", (original) => withPatchedModule(original));
  if (hasOwnView) return;
  for (const name of ["execPath", "title", "argv"]) process[name] = toGuestValue(process[name]);
}

/** Wraps `process` to replace its one immutable member, which reveals where the runtime is on the host. */
function withGuestName(process: Functions): Functions {
  if (hasOwnView) return process;
  const name = toGuestPath(String(process["argv0"]));
  return new Proxy(process, { get: (target, key) => (key === "argv0" ? name : Reflect.get(target, key)) });
}

/** Makes paths look as in a guest with a file system view of its own. */
function hideHost(): void {
  const executable = toGuestPath((deno["execPath"] as () => string)());
  deno["execPath"] = () => executable;
  Object.defineProperty(deno, "mainModule", { value: toGuestPath(deno["mainModule"] as string) });
  // Patched before any program can change the code that patches them.
  for (const name of ["module", "sqlite", "vm"]) patchNodeModule(name, loadNode(name));
}

/**
 * Makes `/workspace/…` work when the guest has no file system view of its own or only a partial one: patches every
 * function with a path parameter to accept guest paths. For convenience only; Deno's permissions enforce access.
 *
 * @param ownView - Whether the guest has a view of its own, with some folders at other places.
 */
export function patchFileFunctions(ownView: boolean): void {
  isPatched = true;
  hasOwnView = ownView;
  patchDeno();
  changeProcess((process) => {
    patchNodeModule("process", process);
    return withGuestName(process);
  });
  if (!ownView) hideHost();
}
