import { setTimeout as delay } from "node:timers/promises";
import type { Locator } from "playwright-core";
import type { FieldValue } from "../conditions.ts";
import type { FormField } from "../form-schema.ts";
import { chooseOffered } from "../target-text.ts";
import { OPTIONS_TIMEOUT_MS } from "./control.ts";
import type { PageElement } from "./page-element.ts";

export const NO_SUCH_OPTION = "has no such option on the page";

const POLL_MS = 100;
/** More options than that are not looked through. */
const MAX_OPTIONS = 5_000;

/** An option that a page offers. */
export interface Offered {
  value: string;
  label: string;
  isChosen: boolean;
}

/** The options of a native select. */
export function offeredBy(select: Locator): Promise<Offered[]> {
  return select.evaluate(
    (element: PageElement, most) =>
      [...(element.options ?? [])]
        .slice(0, most)
        .map(({ value, label, selected }) => ({ value, label: label.trim(), isChosen: selected })),
    MAX_OPTIONS,
  );
}

/** The options that are elements of their own: radio buttons, check boxes, options of a list. */
export function offeredIn(items: Locator): Promise<Offered[]> {
  return items.evaluateAll(
    (elements: PageElement[], most) =>
      elements.slice(0, most).map((element) => {
        const { labels, value, checked = false, innerText } = element;
        const texts = [element.getAttribute("aria-label"), [...(labels ?? [])][0]?.innerText, innerText];
        const own = element.getAttribute("data-value") ?? element.getAttribute("value");
        const state = element.getAttribute("aria-checked") ?? element.getAttribute("aria-selected");
        return {
          value: own ?? (typeof value === "string" ? value : ""),
          label: (
            texts.find((text) => text !== null && text !== undefined && text.trim() !== "") ?? ""
          ).trim(),
          isChosen: state === null ? checked : state === "true",
        };
      }),
    MAX_OPTIONS,
  );
}

/** Waits a while for options that come late, as they do when they depend on another field. */
export async function chooseWhenOffered(
  read: () => Promise<readonly Offered[]>,
  field: FormField,
  value: FieldValue,
): Promise<number[] | undefined> {
  const ends = performance.now() + OPTIONS_TIMEOUT_MS;
  for (;;) {
    const chosen = chooseOffered(field, value, await read());
    if (chosen !== undefined || performance.now() > ends) return chosen;
    await delay(POLL_MS);
  }
}
