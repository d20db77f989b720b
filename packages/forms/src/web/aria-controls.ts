import type { Locator } from "playwright-core";
import type { FieldValue } from "../conditions.ts";
import type { FilledField } from "../target.ts";
import { chooseOffered, isSameText, textOf } from "../target-text.ts";
import { choose } from "./choice-controls.ts";
import { MAX_READ_CHARACTERS } from "./control.ts";
import type { Control, Reading } from "./control.ts";
import { chooseWhenOffered, NO_SUCH_OPTION, offeredIn } from "./offered-options.ts";

/** A slider with more steps is no use by keyboard. */
const MAX_PRESSES = 1_000;

/** Moves a slider or a spin button by its keys, as its role says that they work. */
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
    // It does not move any more, or has gone past.
    if (next === now || isBelow !== next <= wanted) return "can't be set to this value on the page";
    now = next;
  }
  return "can't be set to this value on the page";
}

/** Opens a combobox, types where it takes text, and picks an option. */
export async function fillCombobox(
  control: Control,
  { field, value }: FilledField,
): Promise<string | undefined> {
  const { locator, facts } = control;
  const isInput = facts.tag === "input" || facts.isEditable;
  if (isInput) await locator.fill(textOf(field, value));
  // Typing has opened it, unless it takes a click; a second click would close it again.
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

export async function readCombobox(
  { locator, facts }: Control,
  { field, value }: FilledField,
): Promise<Reading> {
  const text = (facts.tag === "input" ? await locator.inputValue() : await locator.innerText())
    .slice(0, MAX_READ_CHARACTERS)
    .trim();
  const matches = isSameText(field, textOf(field, value), text) || isSameText(field, String(value), text);
  return { value: matches ? value : text, matches };
}

/** Picks options of a list that is always open. */
export async function fillListbox(
  control: Control,
  { field, value }: FilledField,
): Promise<string | undefined> {
  if (Array.isArray(value) && value.length > 1 && !control.facts.isMultiple)
    return "takes one option on the page";
  const options = control.locator.getByRole("option");
  const chosen = await chooseWhenOffered(() => offeredIn(options), field, value);
  if (chosen === undefined) return NO_SUCH_OPTION;
  await choose(options, chosen);
  return undefined;
}

export async function readListbox({ locator }: Control, { field, value }: FilledField): Promise<Reading> {
  const selected = (await offeredIn(locator.getByRole("option"))).filter(({ isChosen }) => isChosen);
  const chosen = chooseOffered(field, value, selected);
  const matches = chosen !== undefined && chosen.length === selected.length;
  return { value: matches ? value : selected.map((one) => one.value || one.label), matches };
}

/** The options that a combobox opens, which may be anywhere in the page. */
async function optionsOf({ locator, frame }: Control): Promise<Locator> {
  const id = (await locator.getAttribute("aria-controls")) ?? (await locator.getAttribute("aria-owns"));
  const list =
    id === null || id === "" ? frame.getByRole("listbox") : frame.locator(`[id=${JSON.stringify(id)}]`);
  return list.getByRole("option");
}
