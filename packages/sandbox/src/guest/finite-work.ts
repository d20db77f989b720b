import { deno } from "./deno.ts";
import type { Inside } from "./inside/index.ts";

type Callable = (this: unknown, ...args: unknown[]) => unknown;
type Members = Record<string, unknown>;

const BLOCKING = "Sync";
const READERS = "arrayBuffer blob bytes formData json text";
const HANDLE_METHODS =
  "appendFile chmod chown close datasync read readFile readv stat sync truncate utimes write writeFile writev";

/**
 * Notes functions of the runtime whose promises always settle, or that always call back, in the guest's own realm: a run
 * is not over before that.
 */
export class FiniteWork {
  readonly #inside: Inside;
  readonly #noted = new WeakSet();

  constructor(inside: Inside) {
    this.#inside = inside;
    this.#noteWithBlocking("Deno", deno);
    this.#noteWithBlocking("FsFile", (deno["FsFile"] as { prototype: Members }).prototype);
    const own = globalThis as unknown as Members;
    this.#note("", own, ["fetch"]);
    for (const type of [Blob, Request, Response])
      this.#note(type.name, type.prototype as unknown as Members, READERS.split(" "));
    const { prototype } = own["SubtleCrypto"] as { prototype: Members };
    this.#note("crypto.subtle", prototype, Object.getOwnPropertyNames(prototype));
  }

  /** Notes the functions of a module of Node's. */
  noteModule(name: string, main: Members): void {
    if (name === "fs/promises") this.#noteFiles(main, main);
    if (name === "fs") this.#noteFiles(main["promises"] as Members, main);
    if (name === "fs" || name === "zlib" || name === "crypto") this.#noteWithBlocking(name, main);
    if (name === "stream" || name === "stream/promises") this.#note(name, main, ["pipeline"]);
    if (name === "timers" || name === "timers/promises") useTimers(name, main);
    if (name === "console") Object.assign(main, globalThis.console);
  }

  #noteFiles(promises: Members, blocking: Members): void {
    if (promises === blocking) this.#note("fs", promises, HANDLE_METHODS.split(" "));
    else this.#noteWithBlocking("fs", promises, blocking);
    const { open } = promises;
    if (typeof open !== "function" || this.#noted.has(promises)) return;
    this.#noted.add(promises);
    // The prototype of handles can't be had without one.
    promises["open"] = async (...args: unknown[]) => {
      const handle = (await (open as Callable)(...args)) as object;
      const methods = Object.getPrototypeOf(handle) as Members;
      this.#note("FileHandle", methods, HANDLE_METHODS.split(" "));
      return handle;
    };
  }

  /** Notes the functions that have a version which blocks: they don't wait for anything that may never come. */
  #noteWithBlocking(owner: string, members: Members, blocking: Members = members): void {
    const names = Object.getOwnPropertyNames(members).filter((name) => `${name}${BLOCKING}` in blocking);
    this.#note(owner, members, names);
  }

  #note(owner: string, members: Members, names: readonly string[]): void {
    for (const name of names) {
      const descriptor = Object.getOwnPropertyDescriptor(members, name);
      const original: unknown = descriptor?.value;
      if (typeof original !== "function" || name === "constructor" || this.#noted.has(original)) continue;
      const label = owner === "" ? name : `${owner}.${name}`;
      const noted = new Proxy(original, {
        apply: (target, self, args: unknown[]) => this.#run(label, target as Callable, self, args),
      });
      this.#noted.add(noted);
      if (descriptor?.configurable === true || descriptor?.writable === true)
        Object.defineProperty(members, name, { ...descriptor, value: noted });
    }
  }

  #run(label: string, original: Callable, self: unknown, args: unknown[]): unknown {
    const callback = args.at(-1);
    if (typeof callback === "function") {
      const end = this.#inside.beginOperation(label);
      const given = function (this: unknown, ...values: unknown[]): unknown {
        end();
        return (callback as Callable).apply(this, values);
      };
      try {
        return original.apply(self, [...args.slice(0, -1), given]);
      } catch (error) {
        end();
        throw error;
      }
    }
    const result = original.apply(self, args);
    if (!(result instanceof Promise)) return result;
    const end = this.#inside.beginOperation(label);
    return result.then(
      (value: unknown) => {
        end();
        return value;
      },
      (error: unknown) => {
        end(error);
        throw error;
      },
    );
  }
}

/** Timers that a program sets by a module of Node's are those of the realm, which the run waits for. */
function useTimers(name: string, main: Members): void {
  const own = globalThis as unknown as Members;
  const promisified = Symbol.for("nodejs.util.promisify.custom");
  for (const key of Object.keys(main)) {
    if (!/^(?:set|clear)/.test(key)) continue;
    const timer = own[key] as (Callable & { [promisified]?: Callable }) | undefined;
    if (name === "timers" && timer !== undefined) main[key] = timer;
    if (name === "timers/promises" && timer?.[promisified] !== undefined) {
      const original = main[key] as Callable;
      const sleep = timer[promisified];
      // With a signal, or not referenced, it is the runtime's.
      main[key] = (...args: unknown[]) => (args.length > 2 ? original(...args) : sleep(...args));
    }
  }
}
