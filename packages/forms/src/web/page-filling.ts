import { setTimeout as delay } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { Page } from "playwright-core";
import type { FieldReading, FilledField, TargetProblem } from "../targets/target.ts";
import type { Control } from "./control.ts";
import { fillControl, readControl } from "./fill-control.ts";
import { findControl } from "./find-control.ts";
import type { Found } from "./find-control.ts";

/** How long fields that appear or are enabled late are waited for. */
const SETTLE_MS = 700;
const POLL_MS = 100;

const WHY_NOT: Readonly<Record<Extract<Found, string>, string>> = {
  none: "is not found on the page; say where it is with locate",
  disabled: "can't be changed on the page",
  ambiguous: "fits several elements of the page; say which with locate.selector",
};

/** Fills the fields of one page after another, as the page shows them. */
export class PageFilling {
  /** Fields that no page has shown yet. */
  readonly left: Map<string, FilledField>;
  readonly readings: FieldReading[] = [];
  readonly problems: TargetProblem[] = [];
  /** The controls of the page that is shown. */
  readonly controls = new Map<string, Control>();
  readonly #page: Page;
  readonly #workspace: string | undefined;
  readonly #why = new Map<string, string>();
  readonly #here = new Map<string, FilledField>();

  constructor(page: Page, fields: readonly FilledField[], workspace: string | undefined) {
    this.#page = page;
    this.#workspace = workspace;
    this.left = new Map(fields.map((filled) => [filled.field.name, filled]));
  }

  /** Fills what the page shows, until no more appears. */
  async fillPage(): Promise<void> {
    this.controls.clear();
    this.#here.clear();
    let ends = performance.now() + SETTLE_MS;
    while (this.left.size > 0) {
      const before = this.left.size;
      await this.#fillShown();
      if (this.left.size < before) ends = performance.now() + SETTLE_MS;
      else if (performance.now() > ends) break;
      else await delay(POLL_MS);
    }
    await this.#readPage();
  }

  /** Whether the page shows a field that is to be filled yet. */
  async showsMore(): Promise<boolean> {
    for (const { field } of this.left.values()) {
      if (typeof (await findControl(this.#page, field).catch(() => "none" as const)) !== "string")
        return true;
    }
    return false;
  }

  /** Notes the fields that no page has shown. */
  giveUp(): void {
    for (const name of this.left.keys()) {
      this.problems.push({ field: name, message: this.#why.get(name) ?? WHY_NOT.none });
    }
  }

  async #fillShown(): Promise<void> {
    for (const [name, filled] of this.left) {
      const found = await findControl(this.#page, filled.field).catch(() => "none" as const);
      if (typeof found === "string") {
        this.#why.set(name, WHY_NOT[found]);
        continue;
      }
      this.left.delete(name);
      const fault = await fillControl(found, filled, this.#workspace).catch(describe);
      if (fault === undefined) {
        this.controls.set(name, found);
        this.#here.set(name, filled);
      } else {
        this.problems.push({ field: name, message: fault });
      }
    }
  }

  /** Reads all fields of the page once they are all filled: one may have changed another. */
  async #readPage(): Promise<void> {
    for (const [name, filled] of this.#here) {
      const control = this.controls.get(name);
      if (control === undefined) continue;
      const reading = await readControl(control, filled).catch(() => ({ value: undefined, matches: false }));
      this.readings.push({ name, ...reading });
    }
  }
}

/** Errors of the browser quote what was filled in and what the page says. */
function describe(error: unknown): string {
  if (CemError.isInstance(error)) return error.message;
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  return isTimeout ? "could not be filled in: the page did not let it in time" : "could not be filled in";
}
