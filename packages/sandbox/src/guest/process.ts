import { addLasting, membersOf, shared } from "./outer-realm.ts";

type Listener = (...args: unknown[]) => void;
type Event = string | symbol;

interface Process extends Record<string, unknown> {
  eventNames(): Event[];
  listeners(event: Event): Listener[];
  removeListener(event: Event, listener: Listener): void;
}

/** Methods that change something for every later run. */
const LASTING = ["binding", "dlopen", "getBuiltinModule", "setUncaughtExceptionCaptureCallback", "umask"];
/** Methods that would change what the runtime itself hears. */
const FOREIGN = new Set<string | symbol>(["removeAllListeners", "setMaxListeners"]);

let process: Process | undefined;
/** The runtime's own listeners, by event. */
const ownListeners = new Map<Event, Listener[]>();

/** Prepares the process object for programs, which all runs have. */
export function confineProcess(): void {
  if (process !== undefined) return;
  process = (globalThis as unknown as { process: Process }).process;
  for (const name of LASTING) {
    const method = process[name];
    if (typeof method === "function") addLasting(method);
  }
  shared.addWith(process, [...methodsOf(process)]);
  for (const event of process.eventNames()) ownListeners.set(event, process.listeners(event));
}

function* methodsOf(object: object): Generator<object> {
  for (let from: object | null = object; from !== Object.prototype && from !== null;) {
    for (const { key, value, get } of membersOf(from)) {
      if (get !== undefined) yield get;
      if (value !== undefined && !FOREIGN.has(key)) yield value;
    }
    from = Object.getPrototypeOf(from) as object | null;
  }
}

/**
 * Removes the listeners that a program has added to the process.
 *
 * @returns false when it has removed one of the runtime's own.
 */
export function resetProcess(): boolean {
  if (process === undefined) return true;
  for (const event of process.eventNames()) {
    const own = ownListeners.get(event) ?? [];
    for (const listener of process.listeners(event)) {
      if (!own.includes(listener)) process.removeListener(event, listener);
    }
  }
  for (const [event, own] of ownListeners) {
    if (process.listeners(event).length !== own.length) return false;
  }
  return true;
}
