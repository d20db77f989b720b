import { ASSUMED } from "./scenario.ts";
import type { Autoscaling } from "./scenario.ts";

/** Decides on the number of workers as a horizontal autoscaler does: up at once, down to the most of the last minutes. */
export class Scaler {
  readonly #rule: Autoscaling;
  #wishes: { at: number; wanted: number }[] = [];
  /** Workers that were asked for and are on their way count as there. */
  #ordered: { at: number; count: number }[] = [];

  constructor(rule: Autoscaling) {
    this.#rule = rule;
  }

  /** @returns how many workers there should be, those on their way not counted. */
  wanted(now: number, waiting: number, running: number, up: number): number {
    const { counts, runsPerWorker, least, most } = this.#rule;
    const length = counts === "waiting" ? waiting : waiting + running;
    const wish = Math.min(most, Math.max(least, Math.ceil(length / runsPerWorker)));
    this.#wishes = this.#wishes.filter(({ at }) => now - at < ASSUMED.scaleDownAfterMs);
    this.#wishes.push({ at: now, wanted: wish });
    this.#ordered = this.#ordered.filter(({ at }) => now - at < ASSUMED.startMs);
    const coming = this.#ordered.reduce((sum, { count }) => sum + count, 0);
    const missing = wish - up - coming;
    if (missing > 0) {
      this.#ordered.push({ at: now, count: missing });
      return up + missing;
    }
    return Math.min(up, Math.max(...this.#wishes.map(({ wanted }) => wanted)));
  }
}
