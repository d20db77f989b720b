import type { Locator } from "playwright-core";
import type { FilledField } from "../target.ts";
import { chooseOffered } from "../target-text.ts";
import type { Control, Reading } from "./control.ts";
import { chooseWhenOffered, NO_SUCH_OPTION, offeredIn } from "./offered-options.ts";

/** Chooses among radio buttons or check boxes, the browser's own or a page's. */
export async function fillChoices(
  { locator }: Control,
  { field, value }: FilledField,
): Promise<string | undefined> {
  const chosen = await chooseWhenOffered(() => offeredIn(locator), field, choiceOf(value));
  if (chosen === undefined) return NO_SUCH_OPTION;
  await choose(locator, chosen);
  return undefined;
}

/** Brings the options of a set to what is wanted, with one click for each that differs. */
export async function choose(items: Locator, wanted: readonly number[]): Promise<void> {
  const offered = await offeredIn(items);
  for (const [index, { isChosen }] of offered.entries()) {
    const endsByItself = wanted.length === 1 && !wanted.includes(index);
    if (isChosen === wanted.includes(index) || endsByItself) continue;
    const item = items.nth(index);
    // Pages hide radio buttons and draw their own in their place.
    if (await item.isVisible()) await item.click();
    else await item.dispatchEvent("click");
  }
  if (wanted.length !== 1) return;
  // Check boxes, unlike radio buttons, stay on when another is clicked.
  for (const [index, { isChosen }] of (await offeredIn(items)).entries()) {
    if (isChosen && !wanted.includes(index)) await items.nth(index).click();
  }
}

export async function readChoices({ locator }: Control, { field, value }: FilledField): Promise<Reading> {
  const selected = (await offeredIn(locator)).filter(({ isChosen }) => isChosen);
  const chosen = chooseOffered(field, choiceOf(value), selected);
  const matches = chosen !== undefined && chosen.length === selected.length;
  if (matches) return { value, matches };
  const values = selected.map((one) => one.value);
  return { value: Array.isArray(value) ? values : (values[0] ?? ""), matches };
}

/** Yes and no, as radio buttons are named. */
function choiceOf(value: FilledField["value"]): FilledField["value"] {
  return typeof value === "boolean" ? (value ? "Yes" : "No") : value;
}
