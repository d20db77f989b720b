import { createContext, constants, Script } from "node:vm";
import { send, sendStderr, writeStdout } from "./channel.ts";
import { brands, Console, deno } from "./deno.ts";
import { insideSource, type Inside, type RealmHost } from "./inside/index.ts";
import { listIntrinsics } from "./inside/intrinsics.ts";
import type { Modules } from "./modules.ts";
import { readKept } from "./kept-results.ts";
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
/** Functions that only read their arguments. */
const readers = new WeakSet<object>([deno.inspect, outerGlobal["structuredClone"] as object]);

/** Lets a function of the outer realm have its arguments as they are. */
export function addReader(reader: object): void {
  readers.add(reader);
}

function namesBesideTheLanguage(): string[] {
  const language = evaluate("Object.getOwnPropertyNames(globalThis)", newContext()) as string[];
  const known = new Set([...language, "window"]);
  known.delete("Temporal");
  return Object.getOwnPropertyNames(globalThis).filter((name) => !known.has(name));
}

const outer = Object.freeze({
  __proto__: null,
  global: globalThis,
  intrinsics: listIntrinsics(),
  is: brands,
  makeFunction: (call: (self: unknown, args: readonly unknown[]) => unknown) =>
    function (this: unknown, ...args: unknown[]) {
      return call(this, args);
    },
  readers,
});

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
    readers.add(members[name] as object);
  }
  return members;
}

/** Creates a realm. */
export function createRealm({ importModules, reportUncaught }: RealmSettings): Realm {
  const context = newContext();
  const timers = new Set<number>();
  let isSpent = false;
  foreign.runInContext(context);
  const host: RealmHost = {
    outer,
    outerGlobal,
    names,
    unconfined: UNCONFINED,
    send,
    now,
    decode,
    readKept,
    makeConsole,
    spend: () => realm.spend(),
    importModules: (requests) => importModules(realm, requests),
    reportUncaught: (thrown) => reportUncaught(realm, thrown),
    setTimer(run, ms, isRepeated) {
      const once = (): void => {
        timers.delete(id);
        run();
      };
      const id = (isRepeated ? setInterval(run, ms) : setTimeout(once, ms)) as unknown as number;
      timers.add(id);
      return id;
    },
    clearTimer(id) {
      timers.delete(id as number);
      clearTimeout(id as number);
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
      for (const id of timers) clearTimeout(id);
      timers.clear();
    },
  };
  return realm;
}
