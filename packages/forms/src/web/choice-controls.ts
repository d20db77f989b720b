import { setTimeout as delay } from "node:timers/promises";
import type { Locator } from "playwright-core";
import type { FieldValue } from "../form/field-values.ts";
import type { FormField } from "../form/form-schema.ts";
import { chooseOffered, isSameText, readChosen, textOf, type FilledField } from "../targets/target.ts";
import { MAX_READ_CHARACTERS, OPTIONS_TIMEOUT_MS } from "./control.ts";
import type { Control, PageElement, Reading } from "./control.ts";

export function fillChoices({ locator }: Control, filled: FilledField): Promise<string | undefined> {
  return choose(locator, filled.field, choiceOf(filled.value));
}

/** Sets the options of a group as wanted, with one click for each that differs. */
async function choose(items: Locator, field: FormField, value: FieldValue): Promise<string | undefined> {
  const wanted = await chooseWhenOffered(() => offeredIn(items), field, value);
  if (wanted === undefined) return NO_SUCH_OPTION;
  const offered = await offeredIn(items);
  for (const [index, { isChosen }] of offered.entries()) {
    const endsByItself = wanted.length === 1 && !wanted.includes(index);
    if (isChosen === wanted.includes(index) || endsByItself) continue;
    const item = items.nth(index);
    // Pages may hide native radio buttons and draw their own.
    if (await item.isVisible()) await item.click();
    else await item.dispatchEvent("click");
  }
  if (wanted.length !== 1) return undefined;
  // Check boxes, unlike radio buttons, stay on when another is clicked.
  for (const [index, { isChosen }] of (await offeredIn(items)).entries()) {
    if (isChosen && !wanted.includes(index)) await items.nth(index).click();
  }
  return undefined;
}

export async function readChoices({ locator }: Control, { field, value }: FilledField): Promise<Reading> {
  const selected = (await offeredIn(locator)).filter(({ isChosen }) => isChosen);
  const read = readChosen({ field, value: choiceOf(value) }, selected);
  return read.matches ? { value, matches: true } : read;
}

function choiceOf(value: FieldValue): FieldValue {
  return typeof value === "boolean" ? (value ? "Yes" : "No") : value;
}

export const NO_SUCH_OPTION = "has no such option on the page";

const POLL_MS = 100;
const MAX_OPTIONS = 5_000;

export interface Offered {
  value: string;
  label: string;
  isChosen: boolean;
}

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
        const trimmed = texts.map((text) => text?.trim() ?? "");
        const own = element.getAttribute("data-value") ?? element.getAttribute("value");
        const state = element.getAttribute("aria-checked") ?? element.getAttribute("aria-selected");
        return {
          value: own ?? (typeof value === "string" ? value : ""),
          label: trimmed.find((text) => text !== "") ?? "",
          isChosen: state === null ? checked : state === "true",
        };
      }),
    MAX_OPTIONS,
  );
}

/** Waits for options that load late, as those that depend on another field do. */
export async function chooseWhenOffered(
  read: () => Promise<readonly Offered[]>,
  field: FormField,
  value: FieldValue,
) {
  const ends = performance.now() + OPTIONS_TIMEOUT_MS;
  for (;;) {
    const chosen = chooseOffered(field, value, await read());
    if (chosen !== undefined || performance.now() > ends) return chosen;
    await delay(POLL_MS);
  }
}

const MAX_PRESSES = 1_000;

/** Moves a slider or a spin button with the keys that its ARIA role defines. */
export async function fillSlider({ locator }: Control, value: FieldValue): Promise<string | undefined> {
  const wanted = Number(value);
  const read = async (): Promise<number> => Number(await locator.getAttribute("aria-valuenow"));
  await locator.focus();
  const isSpin = (await locator.getAttribute("role")) === "spinbutton";
  const [up, down] = isSpin ? ["ArrowUp", "ArrowDown"] : ["ArrowRight", "ArrowLeft"];
  let now = await read();
  for (let presses = 0; presses < MAX_PRESSES; presses += 1) {
    if (now === wanted) return undefined;
    const isBelow = now < wanted;
    await locator.press(isBelow ? up : down);
    const next = await read();
    // It has stopped moving, or has passed the value.
    if (next === now || isBelow !== next <= wanted) break;
    now = next;
  }
  return "can't be set to this value on the page";
}

export async function fillCombobox(control: Control, { field, value }: FilledField) {
  const { locator, facts } = control;
  const isInput = facts.tag === "input" || facts.isEditable;
  if (isInput) await locator.fill(textOf(field, value));
  // Typing may have opened it already; then a click would close it.
  if ((await locator.getAttribute("aria-expanded")) !== "true") await locator.click();
  const options = await optionsOf(control);
  const chosen = await chooseWhenOffered(() => offeredIn(options), field, value);
  const [index] = chosen ?? [];
  if (index !== undefined) {
    await options.nth(index).click();
    return undefined;
  }
  if (isInput && field.options === undefined) return undefined;
  return NO_SUCH_OPTION;
}

export async function readCombobox({ locator, facts }: Control, { field, value }: FilledField) {
  const text = (facts.tag === "input" ? await locator.inputValue() : await locator.innerText())
    .slice(0, MAX_READ_CHARACTERS)
    .trim();
  const matches = isSameText(field, textOf(field, value), text) || isSameText(field, String(value), text);
  return { value: matches ? value : text, matches };
}

export async function fillListbox(control: Control, { field, value }: FilledField) {
  if (Array.isArray(value) && value.length > 1 && !control.facts.isMultiple)
    return "takes one option on the page";
  return choose(control.locator.getByRole("option"), field, value);
}

async function optionsOf({ locator, frame }: Control): Promise<Locator> {
  const id = (await locator.getAttribute("aria-controls")) ?? (await locator.getAttribute("aria-owns"));
  const list =
    id === null || id === "" ? frame.getByRole("listbox") : frame.locator(`[id=${JSON.stringify(id)}]`);
  return list.getByRole("option");
}
