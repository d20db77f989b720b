import { Script } from "node:vm";
import { send, sendStderr, writeStdout } from "./channel.ts";
import { evaluateInNewRealm, newContext } from "./context.ts";
import { Console, deno, isSettled } from "./deno.ts";
import { insideSource, type Inside, type RealmHost } from "./inside/index.ts";
import type { TimerSettings } from "./inside/globals.ts";
import { readKept } from "./kept-results.ts";
import { confineBuffers } from "./node-modules.ts";
import { addReader, outerRealm, replaceInRealms } from "./outer-realm.ts";
import { confineProcess } from "./process.ts";
import { INSIDE_URL, RUNNER_FOLDERS, withoutOwnFrames } from "./guest-errors.ts";
import { toGuestText } from "./paths.ts";
import { decode, freeze, now } from "./primordials.ts";

/** A realm in which one program runs: a global object, the language and modules of its own. */
export interface Realm {
  readonly context: object;
  readonly inside: Inside;
  /** Whether the guest is to be replaced after this run. */
  readonly isSpent: boolean;
  /** Notes that the program took something that can't be confined to one run. */
  spend(): void;
  /** The timers that are to fire once. */
  pendingTimers(): Iterable<PendingTimer>;
  /** Ends what it has left: its timers. */
  end(): void;
}

/** A timer that has not fired. */
export interface PendingTimer {
  /** Its stack says where it was set. */
  place: Error;
  /** Milliseconds until it fires. */
  leftMs: number;
  /** Whether it was set for a race that is decided. */
  isGuard: boolean;
}

/** Settings of a realm, provided by the guest. */
export interface RealmSettings {
  importModules(realm: Realm, requests: string): Promise<unknown[]>;
  reportUncaught(realm: Realm, thrown: unknown): void;
  /** Notes that work of the program has ended. */
  noteProgress(realm: Realm): void;
}

type MakeInside = (host: RealmHost) => Inside;
type Outer = Record<string, unknown>;

const outerGlobal = globalThis as unknown as Outer;
const script = new Script(insideSource(), { filename: INSIDE_URL });
/** Removes objects of the outer realm that V8 puts into a new realm. */
const FOREIGN = "delete globalThis.Temporal; delete Date.prototype.toTemporalInstant;";
const foreign = new Script(FOREIGN);

/** Storage and threads, which outlive a run. */
const UNCONFINED = freeze(["Worker", "localStorage", "sessionStorage", "caches", "indexedDB"]);

const names = namesBesideTheLanguage();
const enumerable = Object.keys(outerGlobal);
function namesBesideTheLanguage(): string[] {
  const language = evaluateInNewRealm("Object.getOwnPropertyNames(globalThis)") as string[];
  // Of the last two the runtime itself rids a program.
  const known = new Set([...language, "window", "nodeBootstrap"]);
  known.delete("Temporal");
  return Object.getOwnPropertyNames(globalThis).filter((name) => !known.has(name));
}

/** A console whose output goes to the host, stdout and stderr in order. */
function makeConsole(): object {
  const console = new Console((text, level) => {
    const shown = toGuestText(withoutOwnFrames(text));
    if (level > 1) sendStderr(shown);
    else writeStdout(shown);
  }) as unknown as Outer;
  const members: Outer = {};
  for (const [name, member] of Object.entries(console)) {
    members[name] = member;
    if (typeof member !== "function") continue;
    const method = (...args: unknown[]): unknown =>
      (member as (...given: unknown[]) => unknown).apply(console, args);
    members[name] = Object.defineProperty(method, "name", { value: name });
    addReader(method);
  }
  return Object.defineProperty(members, Symbol.toStringTag, { value: "console" });
}

for (const [name, member] of Object.entries(outerGlobal["console"] as Outer)) {
  if (typeof member === "function" && name !== "Console") replaceInRealms(member, `console.${name}`);
}
replaceInRealms(outerGlobal["console"] as object, "console");

/** Creates a realm. */
export function createRealm({ importModules, reportUncaught, noteProgress }: RealmSettings): Realm {
  const context = newContext();
  /** By the runtime's timer; by its own settings where the runtime keeps that for itself. */
  const timers = new Map<unknown, { settings: TimerSettings; dueAt: number }>();
  let isSpent = false;
  let isOver = false;
  foreign.runInContext(context);
  const host: RealmHost = {
    outer: outerRealm,
    isOver: () => isOver,
    outerGlobal,
    names,
    enumerable,
    unconfined: UNCONFINED,
    send: (json) => isOver || send(json),
    now,
    decode,
    readKept,
    runnerFolders: outerRealm.toGuest === undefined ? [] : RUNNER_FOLDERS,
    inspect: deno.inspect,
    makeConsole,
    prepareGlobal(name) {
      if (name === "process") confineProcess();
      if (name === "Buffer") confineBuffers();
    },
    spend: () => realm.spend(),
    importModules: (requests) => importModules(realm, requests),
    reportUncaught: (thrown) => reportUncaught(realm, thrown),
    noteProgress: () => noteProgress(realm),
    setTimer(run, ms, settings) {
      if (isOver) return undefined;
      const { isRepeated } = settings;
      const fire = (): void => {
        if (!isRepeated) timers.delete(timer);
        run();
        noteProgress(realm);
      };
      const delay = ms as number;
      const timer: unknown = isRepeated ? setInterval(fire, delay) : setTimeout(fire, delay);
      timers.set(timer, { settings, dueAt: isRepeated ? Infinity : now() + (delay > 0 ? delay : 0) });
      return timer;
    },
    clearTimer(timer) {
      timers.delete(timer);
      clearTimeout(timer as number);
      noteProgress(realm);
    },
    trackDelay(ms, settings) {
      timers.set(settings, { settings, dueAt: now() + (ms > 0 ? ms : 0) });
      return () => {
        timers.delete(settings);
        noteProgress(realm);
      };
    },
  };
  const inside = (script.runInContext(context) as MakeInside)(host);
  const realm: Realm = {
    context,
    inside,
    get isSpent() {
      return isSpent;
    },
    spend() {
      isSpent = true;
    },
    *pendingTimers() {
      const at = now();
      for (const [timer, { settings, dueAt }] of timers) {
        // An interval never ends by itself, and what is `unref`ed is not to be waited for.
        const isKept = dueAt < Infinity && (timer as { hasRef?: () => boolean }).hasRef?.() !== false;
        if (!isKept) continue;
        const { place, race } = settings;
        yield { place, leftMs: dueAt - at, isGuard: race !== undefined && isSettled(race) };
      }
    },
    end() {
      isOver = true;
      for (const [timer, { settings }] of timers) if (timer !== settings) clearTimeout(timer as number);
      timers.clear();
    },
  };
  return realm;
}
