import { createRequire } from "node:module";
import { deno } from "./deno.ts";

type Members = Record<string, unknown>;

/** Loads a module of Node's. */
export const loadNode = createRequire(import.meta.url) as (name: string) => Members;

/** A class can be derived from it. */
function refusing(message: string): () => never {
  return function refuse() {
    throw new Error(message);
  };
}

/**
 * Takes listening from the classes that do it, before any program runs: Deno asks for no permission where a socket has no address
 * yet, and the system gives it a port at all addresses of the host. A program gets at these classes by more than modules, and what
 * would look at each way could be changed by it.
 */
export function withholdListening(): void {
  const refuse = refusing("The sandbox takes no connections: code can't listen for any.");
  for (const name of ["listen", "listenTls", "serve"]) deno[name] = refuse;
  // With a process it would print a warning.
  const process = Object.getOwnPropertyDescriptor(globalThis, "process") as PropertyDescriptor;
  Object.defineProperty(globalThis, "process", { value: undefined, configurable: true });
  const binding = loadNode("internal/test/binding");
  const load = binding["internalBinding"] as (name: string) => Record<string, { prototype: Members }>;
  Object.assign(load("tcp_wrap")["TCP"]?.prototype as Members, { listen: refuse });
  Object.assign(load("pipe_wrap")["Pipe"]?.prototype as Members, { listen: refuse });
  for (const name of ["internalBinding", "default"]) delete binding[name];
  Object.defineProperty(globalThis, "process", process);
}

/** Takes threads from programs: they have classes of their own. */
export function withholdThreads(): void {
  const refuse = refusing("The sandbox starts no threads.");
  (globalThis as unknown as Members)["Worker"] = refuse;
  // Its constructor calls the one that it is derived from.
  Object.freeze(Object.setPrototypeOf(loadNode("worker_threads")["Worker"], refuse));
}
