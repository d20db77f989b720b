import { createRequire } from "node:module";
import { deno } from "./deno.ts";

type Members = Record<string, unknown>;

export const loadNode = createRequire(import.meta.url) as (name: string) => Members;

/** Creates a function that throws. A constructor, so that classes can extend it. */
function refusing(message: string): () => never {
  return function refuse() {
    throw new Error(message);
  };
}

/**
 * Removes listening from the classes that support it, before any program runs: Deno requires no permission for a socket
 * without an address, which the system binds to a port on all addresses of the host. Programs can reach these classes
 * in other ways than modules, and could change code that guards each way.
 */
export function withholdListening(): void {
  const refuse = refusing("The sandbox takes no connections: code can't listen for any.");
  for (const name of ["listen", "listenTls", "serve"]) deno[name] = refuse;
  // A debugger, which could also be the program itself, reaches every object of the runtime, those withheld included.
  for (const name of ["inspector", "inspector/promises"]) Object.assign(loadNode(name), { open: refuse });
  // With a `process` it would print a warning.
  const process = Object.getOwnPropertyDescriptor(globalThis, "process") as PropertyDescriptor;
  Object.defineProperty(globalThis, "process", { value: undefined, configurable: true });
  const binding = loadNode("internal/test/binding");
  const load = binding["internalBinding"] as (name: string) => Record<string, { prototype: Members }>;
  Object.assign(load("tcp_wrap")["TCP"]?.prototype as Members, { listen: refuse });
  Object.assign(load("pipe_wrap")["Pipe"]?.prototype as Members, { listen: refuse });
  for (const name of ["internalBinding", "default"]) delete binding[name];
  Object.defineProperty(globalThis, "process", process);
}

/**
 * Withholds what takes a filter of system calls to bound: threads, which have their own copies of the classes, and would
 * reveal host paths where those are mapped; and WASI, which makes symbolic links to anywhere, since Deno checks only
 * the location of a link. The host's own work in the workspace could follow them.
 */
export function withholdUnfiltered(): void {
  const refuse = refusing("The sandbox starts no threads.");
  (globalThis as unknown as Members)["Worker"] = refuse;
  // Its constructor calls its superclass.
  Object.freeze(Object.setPrototypeOf(loadNode("worker_threads")["Worker"], refuse));
  // Without these methods, it has no memory to read a path from.
  const { prototype } = loadNode("wasi")["WASI"] as { prototype: Members };
  for (const name of ["start", "initialize", "finalizeBindings"])
    prototype[name] = refusing("The sandbox has no WASI.");
}
