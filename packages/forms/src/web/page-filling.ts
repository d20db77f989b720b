import { setTimeout as delay } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { Page } from "playwright-core";
import type { FormField } from "../form/form-schema.ts";
import type { FieldReading, FilledField, TargetProblem } from "../targets/target.ts";
import type { Control } from "./control.ts";
import { fillControl, readControl } from "./fill-control.ts";
import { findControl, type Found } from "./find-control.ts";

/** How long to wait for fields that appear or are enabled late. */
const SETTLE_MS = 700;
const POLL_MS = 100;

const WHY_NOT: Readonly<Record<Extract<Found, string>, string>> = {
  none: "is not found on the page; say where it is with locate",
  disabled: "can't be changed on the page",
  ambiguous: "fits several elements of the page; say which with locate.selector",
};

export function fillPages(page: Page, fields: readonly FilledField[], workspace: string | undefined) {
  const left = new Map(fields.map((filled) => [filled.field.name, filled]));
  const readings: FieldReading[] = [];
  const problems: TargetProblem[] = [];
  /** The fields that were filled on the current page, by name, with their controls. */
  const here = new Map<string, FilledField & { control: Control }>();
  const why = new Map<string, string>();
  const find = (field: FormField): Promise<Found> => findControl(page, field).catch(() => "none" as const);

  const fillShown = async (): Promise<void> => {
    for (const [name, filled] of left) {
      const found = await find(filled.field);
      if (typeof found === "string") {
        why.set(name, WHY_NOT[found]);
        continue;
      }
      left.delete(name);
      const fault = await fillControl(found, filled, workspace).catch(describe);
      if (fault === undefined) here.set(name, { ...filled, control: found });
      else problems.push({ field: name, message: fault });
    }
  };

  return {
    left,
    readings,
    problems,
    here,
    async fillPage(): Promise<void> {
      here.clear();
      let ends = performance.now() + SETTLE_MS;
      while (left.size > 0) {
        const before = left.size;
        await fillShown();
        if (left.size < before) ends = performance.now() + SETTLE_MS;
        else if (performance.now() > ends) break;
        else await delay(POLL_MS);
      }
      // Read only after all are filled: one may have changed another.
      for (const [name, { control, ...filled }] of here) {
        const unread = { value: undefined, matches: false };
        readings.push({ name, ...(await readControl(control, filled).catch(() => unread)) });
      }
    },
    async showsMore(): Promise<boolean> {
      for (const { field } of left.values()) if (typeof (await find(field)) !== "string") return true;
      return false;
    },
    giveUp(): void {
      for (const name of left.keys()) problems.push({ field: name, message: why.get(name) ?? WHY_NOT.none });
    },
  };
}

/** The browser's errors may quote values and text of the page. */
function describe(error: unknown): string {
  if (CemError.isInstance(error)) return error.message;
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  return isTimeout ? "could not be filled in: the page did not let it in time" : "could not be filled in";
}
