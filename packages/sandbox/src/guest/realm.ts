import { constants, createContext, Script } from "node:vm";
import { send, sendStderr, writeStdout } from "./channel.ts";
import { Console, deno, isOwn } from "./deno.ts";
import { inSandboxTerms } from "./denied.ts";
import { INSIDE_URL, RUNNER_FOLDERS, withSourceFrames } from "./guest-errors.ts";
import { insideSource, type Inside, type RuntimeParts } from "./inside/index.ts";
import type { HostFunction, Primitive } from "./inside/primordials.ts";
import { readKept } from "./kept-results.ts";
import { resolveModule } from "./module-urls.ts";
import { languageNames } from "./needs-runtime.ts";
import { hidesHost, toGuestText } from "./paths.ts";
import { bytesOf, decode, includesText, now, parseJson } from "./primordials.ts";

/** A realm in which one program runs: with its own global object, built-ins and modules. */
export interface Realm {
  /** `undefined` for the guest's own realm, which has the whole runtime and serves only one run. */
  readonly context: object | undefined;
  readonly inside: Inside;
  /** Converts an error of the guest's own realm to one of this realm; others belong to this realm already. */
  ownError(error: unknown): unknown;
  readonly hasTimers: boolean;
  /** Makes its timers not count as work of the runtime. */
  unrefTimers(): void;
  /** Stops its remaining timers. */
  end(): void;
}

export interface RealmSettings {
  importModules(realm: Realm, id: number, requests: string): Promise<void>;
  /** Receives the program's value as JSON, `undefined` for none. */
  done(realm: Realm, json: string | undefined): void;
  /** Receives what the program threw, as JSON. */
  failed(realm: Realm, json: string): void;
  /** Called when work of the program has ended. */
  noteProgress(realm: Realm): void;
}

type MakeInside = (host: HostFunction, runtime: RuntimeParts | undefined) => Inside;

const script = new Script(insideSource(), { filename: INSIDE_URL });
const {
  setTimeout: startTimer,
  setInterval: startInterval,
  clearTimeout: stopTimer,
  queueMicrotask: later,
} = globalThis;
const randomUuid = crypto.randomUUID.bind(crypto);

function print(isError: boolean, text: string): void {
  const shown = inSandboxTerms(toGuestText(withSourceFrames(text)));
  if (isError) sendStderr(shown);
  else writeStdout(shown);
}

/** The parts of a program's realm when it is the guest's own. */
function runtimeParts(): RuntimeParts {
  const console = new Console((text, level) => print(level > 1, text)) as unknown as Record<string, unknown>;
  return {
    inspect: deno.inspect as RuntimeParts["inspect"],
    console,
    isLanguage: (name) => languageNames.has(name),
    runnerFolders: [...(hidesHost() ? RUNNER_FOLDERS : []), INSIDE_URL, "ext:"],
  };
}

/**
 * Creates a realm.
 *
 * @param isLight - Whether it has only the language and tools, and no object of the guest's own realm. Otherwise it is
 *   the guest's own realm.
 */
export function createRealm(settings: RealmSettings, isLight: boolean): Realm {
  const { importModules, done, failed, noteProgress } = settings;
  const context = isLight
    ? createContext(constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } })
    : undefined;
  const timers = new Map<number, unknown>();
  let isOver = false;

  const operations: Record<string, (a: never, b: never, c: never, d: never) => Primitive | void> = {
    __proto__: null as never,
    send: (json: string) => send(json),
    print,
    now,
    origin: () => performance.timeOrigin,
    progress: () => noteProgress(realm),
    done: (json: string | undefined) => done(realm, json),
    failed: (json: string) => failed(realm, json),
    // Never on the program's stack: when that is full, the guest's own code would fail with errors of its own realm.
    import: (id: number, requests: string) => later(() => void importModules(realm, id, requests)),
    readKept: (path: string, offset: number, limit: number) => answer(() => readKept(path, offset, limit)),
    file: (method: string, path: string, other?: string, options?: string) =>
      answer(() => doWithFile(method, path, other, options)),
    resolve: (specifier: string, url: string) =>
      answer(() => {
        const resolved = resolveModule(specifier, url);
        if (resolved.url === undefined) throw new TypeError(resolved.refusal);
        return resolved.url;
      }),
    setTimer(id: number, ms: number, isRepeated: boolean) {
      const fire = (): void => {
        if (!isRepeated) timers.delete(id);
        realm.inside.fire(id);
        noteProgress(realm);
      };
      timers.set(id, isRepeated ? startInterval(fire, ms) : startTimer(fire, ms));
    },
    clearTimer(id: number) {
      stopTimer(timers.get(id) as number);
      timers.delete(id);
    },
    decode: (text: string) => decode(bytesOf(text)),
    uuid: () => randomUuid(),
  };
  const host: HostFunction = (operation, a, b, c, d) => {
    if (isOver) return undefined;
    return operations[operation]?.(a as never, b as never, c as never, d as never) as Primitive;
  };
  const make = (
    context === undefined ? script.runInThisContext() : script.runInContext(context)
  ) as MakeInside;
  const inside = make(host, isLight ? undefined : runtimeParts());
  const realm: Realm = {
    context,
    inside,
    ownError(error) {
      return isLight && isOwn(error, Error) ? inside.makeError(error.name, textOf(error)) : error;
    },
    get hasTimers() {
      return timers.size > 0;
    },
    unrefTimers() {
      for (const timer of timers.values()) deno.unrefTimer(timer as number);
    },
    end() {
      isOver = true;
      for (const timer of timers.values()) stopTimer(timer as number);
      timers.clear();
    },
  };
  return realm;
}

/** The Deno functions that programs have in a light realm. */
const FILE_FUNCTIONS =
  " readTextFileSync writeTextFileSync mkdirSync removeSync renameSync copyFileSync readDirSync ";

function doWithFile(method: string, path: string, other?: string, options?: string): string {
  if (!includesText(FILE_FUNCTIONS, ` ${method} `)) return "";
  const given = [path, other, options && parseJson(options)].filter((one) => one !== undefined);
  // Looked up on each use, since functions with path parameters may be patched.
  const result = (deno[method] as (...args: unknown[]) => unknown)(...given);
  if (method === "readDirSync") return JSON.stringify(Array.from(result as Iterable<object>));
  return typeof result === "string" ? result : "";
}

/** `+` and the result, or `!` and the error as JSON. */
function answer(action: () => string): string {
  try {
    return `+${action()}`;
  } catch (error) {
    const { name, code } = error as Error & { code?: unknown };
    return `!${JSON.stringify({ name, message: textOf(error as Error), code })}`;
  }
}

function textOf(error: Error): string {
  return inSandboxTerms(toGuestText(error.message));
}
