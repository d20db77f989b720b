import { noteAll } from "./finite-work.ts";

type Callable = (...args: unknown[]) => unknown;
type Members = Record<string, unknown>;

interface FileHandle {
  /** -1 once it is closed. */
  readonly fd: number;
}

/** Files opened by Node's functions, which the runtime doesn't list among its resources. */
const descriptors = new Set<unknown>();
const handles = new Set<FileHandle>();

function wrap(members: Members, name: string, make: (original: Callable) => Callable): void {
  const original = members[name] as Callable;
  members[name] = Object.defineProperty(make(original), "name", { value: original.name });
}

/** Notes the files that programs open by `node:fs`. Its streams open and close theirs by the same functions. */
export function trackOpenFiles(fs: Members): void {
  wrap(fs, "openSync", (open) => (...args) => {
    const descriptor = open(...args);
    descriptors.add(descriptor);
    return descriptor;
  });
  wrap(fs, "open", (open) => (...args) => {
    const callback = args.at(-1);
    if (typeof callback !== "function") return open(...args);
    return open(...args.slice(0, -1), (error: unknown, descriptor: unknown) => {
      if (descriptor !== undefined) descriptors.add(descriptor);
      (callback as Callable)(error, descriptor);
    });
  });
  for (const name of ["close", "closeSync"]) {
    wrap(fs, name, (close) => (...args) => {
      const result = close(...args);
      descriptors.delete(args[0]);
      return result;
    });
  }
  wrap(fs["promises"] as Members, "open", (open) => async (...args) => {
    const handle = (await open(...args)) as FileHandle;
    handles.add(handle);
    noteHandleMethods(handle);
    return handle;
  });
}

const HANDLE_METHODS =
  "appendFile chmod chown close datasync read readFile readv stat sync truncate utimes write writeFile writev".split(
    " ",
  );
let areMethodsNoted = false;

/** The prototype of handles can't be had without one. */
function noteHandleMethods(handle: FileHandle): void {
  if (areMethodsNoted) return;
  areMethodsNoted = true;
  noteAll("FileHandle", Object.getPrototypeOf(handle) as object, HANDLE_METHODS);
}

/** Whether a program has left a file open. */
export function isFileOpen(): boolean {
  for (const handle of handles) if (handle.fd === -1) handles.delete(handle);
  return descriptors.size > 0 || handles.size > 0;
}
