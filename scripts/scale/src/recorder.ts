import { CLASSES } from "./scenario.ts";
import type { CustomerClass, Scenario } from "./scenario.ts";
import { round, summarize } from "./statistics.ts";
import type { Summary } from "./statistics.ts";

const MS_PER_SECOND = 1_000;
const PERCENT = 100;

/** The result of a scenario. */
export interface Outcome {
  runsPerSecond: number;
  /** Until a worker has the run. */
  waits: Record<CustomerClass, Summary>;
  /** Of the runs that were put in, per cent. */
  refusedPercent: Record<CustomerClass, number>;
  /** All that a run takes beyond what it waits for its tools. */
  overhead: Summary;
  warmPercent: number;
  redisBusyPercent: number;
  slotsBusyPercent: number;
  lost: number;
  interrupted: number;
  highestTurn: number;
  /** Every ten seconds: workers, runs that wait, and the 95th percentile of the waits since. */
  course: { second: number; workers: number; waiting: number; p95: number }[];
}

const COURSE_SECONDS = 10;

export class Recorder {
  readonly #from: number;
  readonly #seconds: number;
  readonly #slots: number;
  readonly #waits: Record<CustomerClass, number[]> = { light: [], regular: [], heavy: [], flooding: [] };
  readonly #refused: Record<CustomerClass, number> = { light: 0, regular: 0, heavy: 0, flooding: 0 };
  readonly #overheads: number[] = [];
  readonly #course: Outcome["course"] = [];
  #recent: number[] = [];
  #warm = 0;
  #redisMs = 0;
  #busySlots = 0;
  #allSlots = 0;
  #lost = 0;
  #interrupted = 0;
  #highestTurn = 0;
  /** Runs that have come to their end, or were refused. */
  ended = 0;

  constructor({ settleSeconds, seconds, slots }: Scenario) {
    this.#from = settleSeconds * MS_PER_SECOND;
    this.#seconds = seconds - settleSeconds;
    this.#slots = slots;
  }

  started(now: number, kind: CustomerClass, arrivedAt: number, isWarm: boolean): void {
    this.#recent.push(now - arrivedAt);
    if (now < this.#from) return;
    this.#waits[kind].push(now - arrivedAt);
    if (isWarm) this.#warm += 1;
  }

  startTurn(turn: number): void {
    this.#highestTurn = Math.max(this.#highestTurn, turn);
  }

  refused(now: number, kind: CustomerClass): void {
    this.ended += 1;
    if (now >= this.#from) this.#refused[kind] += 1;
  }

  finished(now: number, overheadMs: number): void {
    this.ended += 1;
    if (now >= this.#from) this.#overheads.push(overheadMs);
  }

  lost(isInterrupted: boolean): void {
    this.#lost += 1;
    if (isInterrupted) this.#interrupted += 1;
  }

  redisBusy(now: number, milliseconds: number): void {
    if (now >= this.#from) this.#redisMs += milliseconds;
  }

  look(now: number, workers: number, waiting: number, running: number): void {
    if (now >= this.#from) {
      this.#busySlots += running;
      this.#allSlots += workers * this.#slots;
    }
    const second = now / MS_PER_SECOND;
    if (second < (this.#course.length + 1) * COURSE_SECONDS) return;
    this.#course.push({ second: Math.round(second), workers, waiting, p95: summarize(this.#recent).p95 });
    this.#recent = [];
  }

  outcome(): Outcome {
    const started = CLASSES.reduce((sum, kind) => sum + this.#waits[kind].length, 0);
    const each = <Value>(of: (kind: CustomerClass) => Value): Record<CustomerClass, Value> => ({
      light: of("light"),
      regular: of("regular"),
      heavy: of("heavy"),
      flooding: of("flooding"),
    });
    const percent = (part: number, whole: number): number => round((PERCENT * part) / Math.max(1, whole));
    return {
      runsPerSecond: round(this.#overheads.length / this.#seconds),
      waits: each((kind) => summarize(this.#waits[kind])),
      refusedPercent: each((kind) =>
        percent(this.#refused[kind], this.#refused[kind] + this.#waits[kind].length),
      ),
      overhead: summarize(this.#overheads),
      warmPercent: percent(this.#warm, started),
      redisBusyPercent: Math.min(PERCENT, percent(this.#redisMs, this.#seconds * MS_PER_SECOND)),
      slotsBusyPercent: percent(this.#busySlots, this.#allSlots),
      lost: this.#lost,
      interrupted: this.#interrupted,
      highestTurn: this.#highestTurn,
      course: this.#course,
    };
  }
}
