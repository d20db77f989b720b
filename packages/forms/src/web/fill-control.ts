import type { FieldValue } from "../form/field-values.ts";
import { isSameText, readChosen, textOf, type FilledField } from "../targets/target.ts";
import { readWorkspaceFile } from "../targets/workspace-files.ts";
import {
  chooseWhenOffered,
  fillChoices,
  fillCombobox,
  fillListbox,
  fillSlider,
  NO_SUCH_OPTION,
  offeredBy,
  offeredIn,
  readChoices,
  readCombobox,
} from "./choice-controls.ts";
import { MAX_READ_CHARACTERS, type Control, type PageElement, type Reading } from "./control.ts";

/** Fills a control. @returns why it can't be filled: a clause. */
export async function fillControl(control: Control, filled: FilledField, workspace: string | undefined) {
  const { locator, kind } = control;
  const { field, value } = filled;
  switch (kind) {
    case "text":
    case "date":
      return fillText(control, textFor(control, filled));
    case "editable":
      await locator.fill(textOf(field, value));
      return undefined;
    case "checkbox":
      if (typeof value !== "boolean") return "is a check box on the page, which takes yes or no";
      return check(control, value);
    case "select":
      return fillSelect(control, filled);
    case "file":
      return fillFiles(control, value, workspace);
    case "choices":
      return fillChoices(control, filled);
    case "slider":
      return fillSlider(control, value);
    case "combobox":
      return fillCombobox(control, filled);
    case "listbox":
      return fillListbox(control, filled);
  }
}

export async function readControl(control: Control, filled: FilledField): Promise<Reading> {
  const { locator, kind } = control;
  const { field, value } = filled;
  switch (kind) {
    case "text":
    case "date": {
      const text = (await locator.inputValue()).slice(0, MAX_READ_CHARACTERS);
      return { value: text, matches: isSameText(field, textFor(control, filled), text) };
    }
    case "editable": {
      const text = (await locator.innerText()).slice(0, MAX_READ_CHARACTERS).trim();
      return { value: text, matches: isSameText(field, textOf(field, value), text) };
    }
    case "checkbox": {
      const isChecked = await locator.isChecked();
      return { value: isChecked, matches: isChecked === value };
    }
    case "select":
    case "listbox": {
      const isNative = kind === "select";
      const offered = await (isNative ? offeredBy(locator) : offeredIn(locator.getByRole("option")));
      const chosen = offered.filter(({ isChosen }) => isChosen);
      return readChosen(filled, chosen);
    }
    case "file": {
      const names = await locator.evaluate((element: PageElement) =>
        [...(element.files ?? [])].map(({ name }) => name),
      );
      const wanted = Array.isArray(value) ? value.map((file) => file.split(/[\\/]/).at(-1)) : [];
      const matches = names.join("\n") === wanted.join("\n");
      return { value: matches ? value : names, matches };
    }
    case "choices":
      return readChoices(control, filled);
    case "slider": {
      const now = Number(await locator.getAttribute("aria-valuenow"));
      return { value: now, matches: now === value };
    }
    case "combobox":
      return readCombobox(control, filled);
  }
}

/** The browser's own date controls take ISO 8601, whatever they display. */
function textFor({ kind }: Control, { field, value }: FilledField): string {
  return kind === "date" ? String(value) : textOf(field, value);
}

async function fillText({ locator }: Control, text: string): Promise<string | undefined> {
  const most = await locator.evaluate((element: PageElement) => element.maxLength ?? -1);
  if (most >= 0 && text.length > most) return `takes at most ${most} characters on the page`;
  await locator.fill(text);
  const faults = await locator.evaluate((element: PageElement) => {
    const { validity = {} } = element;
    const flags =
      "badInput patternMismatch rangeOverflow rangeUnderflow stepMismatch tooLong tooShort typeMismatch";
    return flags.split(" ").filter((flag) => validity[flag] === true);
  });
  return faults.length === 0 ? undefined : `is not taken by the page (${faults.join(", ")})`;
}

async function check(control: Control, wanted: boolean): Promise<string | undefined> {
  if ((await control.locator.isChecked()) === wanted) return undefined;
  // Pages may hide the native check box and draw their own.
  if (control.facts.isVisible) await control.locator.click();
  else await control.locator.dispatchEvent("click");
  return undefined;
}

async function fillSelect({ locator, facts }: Control, { field, value }: FilledField) {
  if (Array.isArray(value) && value.length > 1 && !facts.isMultiple) return "takes one option on the page";
  const chosen = await chooseWhenOffered(() => offeredBy(locator), field, value);
  if (chosen === undefined) return NO_SUCH_OPTION;
  await locator.selectOption(chosen.map((index) => ({ index })));
  return undefined;
}

async function fillFiles({ locator, facts }: Control, value: FieldValue, workspace: string | undefined) {
  if (!Array.isArray(value)) return "is for files on the page";
  if (value.length > 1 && !facts.isMultiple) return "takes one file on the page";
  const files = await Promise.all(value.map((file) => readWorkspaceFile(workspace, file)));
  await locator.setInputFiles(files.map(({ name, mimeType, bytes }) => ({ name, mimeType, buffer: bytes })));
  return undefined;
}
