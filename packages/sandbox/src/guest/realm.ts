import { createContext, constants, Script } from "node:vm";
import { send, sendStderr, writeStdout } from "./channel.ts";
import { Console } from "./deno.ts";
import { insideSource, type Inside, type RealmHost } from "./inside/index.ts";
import type { Modules } from "./modules.ts";
import { readKept } from "./kept-results.ts";
import { confineBuffers, confineProcess } from "./node-modules.ts";
import { addReader, outerRealm } from "./outer-realm.ts";
import { decode, freeze, now } from "./primordials.ts";

/** A realm in which one program runs: a global object, the language and modules of its own. */
export interface Realm {
  readonly context: object;
  readonly inside: Inside;
  /** The modules loaded so far. */
  modules: Modules | undefined;
  /** Whether the guest is to be replaced after this run. */
  readonly isSpent: boolean;
  /** Notes that the program took something that can't be confined to one run. */
  spend(): void;
  /** Ends what it has left: its timers. */
  end(): void;
}

/** What a realm needs of the guest. */
export interface RealmSettings {
  importModules(realm: Realm, requests: unknown): Promise<unknown[]>;
  reportUncaught(realm: Realm, thrown: unknown): void;
}

type MakeInside = (host: RealmHost) => Inside;
type Outer = Record<string, unknown>;

const outerGlobal = globalThis as unknown as Outer;
const script = new Script(insideSource(), { filename: "cem:inside" });
/** A global object without interceptors, which would make each access to it slow. */
const newContext = (): object => createContext(constants.DONT_CONTEXTIFY as unknown as object);
const evaluate = (text: string, context: object): unknown => new Script(text).runInContext(context);

/** What V8 leaves in a new realm although it belongs to the outer one. */
const FOREIGN = "delete globalThis.Temporal; delete Date.prototype.toTemporalInstant;";
const foreign = new Script(FOREIGN);

/** Storage and threads, which outlive a run. */
const UNCONFINED = freeze(["Worker", "localStorage", "sessionStorage", "caches", "indexedDB"]);

const names = namesBesideTheLanguage();
function namesBesideTheLanguage(): string[] {
  const language = evaluate("Object.getOwnPropertyNames(globalThis)", newContext()) as string[];
  const known = new Set([...language, "window", "nodeBootstrap"]);
  known.delete("Temporal");
  return Object.getOwnPropertyNames(globalThis).filter((name) => !known.has(name));
}

/** A console whose output goes to the host, stdout and stderr in order. */
function makeConsole(): object {
  const console = new Console((text, level) => {
    if (level > 1) sendStderr(text);
    else writeStdout(text);
  }) as unknown as Outer;
  const members: Outer = {};
  for (const [name, member] of Object.entries(console)) {
    if (typeof member !== "function") continue;
    members[name] = (...args: unknown[]) => (member as (...given: unknown[]) => unknown).apply(console, args);
    Object.defineProperty(members[name], "name", { value: name });
    addReader(members[name] as object);
  }
  return members;
}

/** Creates a realm. */
export function createRealm({ importModules, reportUncaught }: RealmSettings): Realm {
  const context = newContext();
  const timers = new Set<unknown>();
  let isSpent = false;
  let isOver = false;
  foreign.runInContext(context);
  const host: RealmHost = {
    outer: outerRealm,
    isOver: () => isOver,
    outerGlobal,
    names,
    unconfined: UNCONFINED,
    send: (json) => isOver || send(json),
    now,
    decode,
    readKept,
    makeConsole,
    prepareGlobal(name) {
      if (name === "process") confineProcess();
      if (name === "Buffer") confineBuffers();
    },
    spend: () => realm.spend(),
    importModules: (requests) => importModules(realm, requests),
    reportUncaught: (thrown) => reportUncaught(realm, thrown),
    setTimer(run, ms, isRepeated) {
      if (isOver) return undefined;
      const once = (): void => {
        timers.delete(timer);
        run();
      };
      const timer: unknown = isRepeated ? setInterval(run, ms) : setTimeout(once, ms);
      timers.add(timer);
      return timer;
    },
    clearTimer(timer) {
      timers.delete(timer);
      clearTimeout(timer as number);
    },
  };
  const inside = (script.runInContext(context) as MakeInside)(host);
  const realm: Realm = {
    context,
    inside,
    modules: undefined,
    get isSpent() {
      return isSpent;
    },
    spend() {
      isSpent = true;
    },
    end() {
      isOver = true;
      for (const timer of timers) clearTimeout(timer as number);
      timers.clear();
    },
  };
  return realm;
}
