import { attempt, programPlace } from "./guest-errors.ts";
import type { Work } from "./inside/pending.ts";
import { quote } from "./primordials.ts";
import type { PendingTimer, Realm } from "./realm.ts";

/** The longest wait for a timer once the program has its value, or once its race is decided. */
const TIMER_WAIT_MS = 1_000;
/** The most pieces of work of a kind that are reported. */
const MAX_TOLD = 20;

/** Work that was still pending when a program returned, each piece as JSON. */
export interface Unawaited {
  /** Work that the run waits for. */
  kept: string[];
  /** Timers that are stopped. */
  stopped: string[];
}

/** Whether a run goes on after its program has returned. Asked at each end of a timer or call, of which there may be many. */
export function isWaitedFor(realm: Realm, hasValue: boolean): boolean {
  if (realm.inside.isWorkPending()) return true;
  for (const timer of realm.pendingTimers()) if (isKept(timer, hasValue)) return true;
  return false;
}

/** Lists what a program has begun and not awaited. */
export function listUnawaited(realm: Realm, hasValue: boolean): Unawaited {
  const kept: string[] = [];
  const stopped: string[] = [];
  // A list of the realm, whose iterator the program may have changed.
  const pending = realm.inside.pendingWork(MAX_TOLD);
  for (let index = 0; index < pending.length; index += 1) {
    const { kind, server, name, place } = pending[index] as Work;
    kept.push(toJson(realm, place, { kind, server, name, ms: 0 }));
  }
  let told = 0;
  for (const timer of realm.pendingTimers()) {
    const { place, leftMs } = timer;
    const list = isKept(timer, hasValue) ? kept : stopped;
    list.push(toJson(realm, place, { kind: "timer", server: "", name: "setTimeout", ms: leftMs }));
    told += 1;
    if (told === MAX_TOLD) break;
  }
  return { kept, stopped };
}

function isKept({ leftMs, isGuard }: PendingTimer, hasValue: boolean): boolean {
  return (!hasValue && !isGuard) || leftMs <= TIMER_WAIT_MS;
}

interface Told {
  kind: string;
  server: string;
  name: string;
  ms: number;
}

function toJson(realm: Realm, place: Error, { kind, server, name, ms }: Told): string {
  const stack = attempt(() => realm.inside.readThrown(place).stack, "");
  const at = programPlace(stack);
  const where = at === undefined ? "" : `,"line":${at.line},"column":${at.column}`;
  const left = `"leftMs":${Math.max(0, Math.round(ms))}`;
  return `{"kind":"${kind}","server":${quote(server)},"name":${quote(name)},${left}${where}}`;
}
