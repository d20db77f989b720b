import { deno } from "./deno.ts";
import { toGuestPath, toHostPath } from "./paths.ts";

type Callable = (...args: unknown[]) => unknown;
type Functions = Record<string, unknown>;

/** Functions of Deno that take one path first, and those that take two. */
const ONE_PATH =
  "readTextFile readFile writeTextFile writeFile open create mkdir remove readDir stat lstat realPath readLink truncate chmod chown utime watchFs chdir";
const TWO_PATHS = "rename copyFile link symlink";
const TEMPORARY = "makeTempDir makeTempFile";
const NODE_TWO_PATHS = new Set(["rename", "copyFile", "link", "symlink", "cp"]);

function hostArgument(value: unknown): unknown {
  if (typeof value === "string") return toHostPath(value);
  if (Array.isArray(value)) return value.map(hostArgument);
  if (!(value instanceof URL)) return value;
  const url = new URL(value.href);
  if (url.protocol === "file:") url.pathname = toHostPath(url.pathname);
  return url;
}

/** Wraps a function to map its first arguments from guest paths to host paths, keeping its properties. */
function withPaths(original: Callable, count: number): Callable {
  return new Proxy(original, {
    apply(target, self, args: unknown[]) {
      const mapped: unknown[] = [];
      for (let index = 0; index < args.length; index += 1) {
        mapped[index] = index < count ? hostArgument(args[index]) : args[index];
      }
      return Reflect.apply(target, self, mapped);
    },
  });
}

function withGuestResult(original: Callable): Callable {
  const toGuest = (value: unknown) => (typeof value === "string" ? toGuestPath(value) : value);
  return (...args) => {
    const result = original(...args);
    return result instanceof Promise ? result.then(toGuest) : toGuest(result);
  };
}

function patch(functions: Functions, name: string, change: (original: Callable) => Callable): void {
  const original = functions[name];
  if (typeof original === "function") functions[name] = change(original as Callable);
}

function patchDeno(): void {
  const both = (names: string) => names.split(" ").flatMap((name) => [name, `${name}Sync`]);
  for (const name of both(ONE_PATH)) patch(deno, name, (original) => withPaths(original, 1));
  for (const name of both(TWO_PATHS)) patch(deno, name, (original) => withPaths(original, 2));
  for (const name of both(TEMPORARY)) {
    patch(deno, name, (original) => (options) => {
      const dir = hostArgument((options as { dir?: string } | undefined)?.dir ?? "/workspace");
      return original({ ...(options as object), dir });
    });
  }
  for (const name of ["cwd", ...both("realPath makeTempDir makeTempFile")])
    patch(deno, name, withGuestResult);
}

let isPatched = false;

/** Patches a file module of Node's to accept guest paths, where the guest has no file system view of its own. */
export function patchFileModule(name: string, members: Functions): void {
  if (!isPatched) return;
  if (name === "fs" || name === "fs/promises") patchNodeFunctions(members);
  if (name === "fs") patchNodeFunctions(members["promises"] as Functions);
  if (name === "sqlite") patch(members, "DatabaseSync", (original) => constructedWithPath(original));
}

const patchedModules = new WeakSet<object>();

function patchNodeFunctions(functions: Functions): void {
  // The promises of node:fs and node:fs/promises are one object.
  if (patchedModules.has(functions)) return;
  patchedModules.add(functions);
  for (const name of Object.keys(functions)) {
    if (!/^[a-z]/.test(name)) continue;
    const count = NODE_TWO_PATHS.has(name.replace(/Sync$/, "")) ? 2 : 1;
    patch(functions, name, (original) => withPaths(original, count));
  }
  for (const name of ["realpathSync", "mkdtempSync"]) patch(functions, name, withGuestResult);
}

function constructedWithPath(original: Callable): Callable {
  return new Proxy(original, {
    construct: (target, [path, ...rest]: unknown[], newTarget) =>
      Reflect.construct(target, [hostArgument(path), ...rest], newTarget) as object,
  });
}

/** Patches `process` on first access, since loading it is slow. */
function patchProcessLater(): void {
  const original = Object.getOwnPropertyDescriptor(globalThis, "process");
  const load = original?.get?.bind(globalThis) as (() => Functions) | undefined;
  if (load === undefined) return;
  Object.defineProperty(globalThis, "process", {
    configurable: true,
    enumerable: true,
    get() {
      const process = load();
      Object.defineProperty(globalThis, "process", { value: process, writable: true, configurable: true });
      patch(process, "cwd", withGuestResult);
      patch(process, "chdir", (chdir) => withPaths(chdir, 1));
      return process;
    },
  });
}

/**
 * Makes `/workspace/…` work where the guest has no file system view of its own: patches every function with a path
 * parameter to accept guest paths. For convenience only; Deno's permissions enforce access.
 */
export function patchFileFunctions(): void {
  isPatched = true;
  patchDeno();
  patchProcessLater();
}
