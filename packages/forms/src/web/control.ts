import type { Frame, Locator } from "playwright-core";
import type { PageElement } from "./page-element.ts";

/** The most characters that are read from a page for one field. */
export const MAX_READ_CHARACTERS = 100_000;
/** How long options may take to appear. */
export const OPTIONS_TIMEOUT_MS = 3_000;

/** What a field is filled into. */
export type ControlKind =
  | "text"
  | "date"
  | "checkbox"
  | "select"
  | "file"
  | "editable"
  | "choices"
  | "aria-checkbox"
  | "slider"
  | "combobox"
  | "listbox";

/** A control of a page. */
export interface Control {
  kind: ControlKind;
  /** The element; for `choices`, the radio buttons or check boxes. */
  locator: Locator;
  frame: Frame;
  facts: ElementFacts;
}

/** What an element is, as the page says. */
export interface ElementFacts {
  tag: string;
  type: string;
  role: string;
  name: string;
  isEditable: boolean;
  isMultiple: boolean;
  isDisabled: boolean;
  isVisible: boolean;
}

/** Reads what an element is. */
export function readFacts(locator: Locator): Promise<ElementFacts> {
  return locator.evaluate((element: PageElement) => {
    const { type = "", name = "", multiple = false, disabled = false, readOnly = false } = element;
    const role = element.getAttribute("role") ?? "";
    return {
      tag: element.localName,
      type: String(type).toLowerCase(),
      role: role.trim().split(" ")[0] ?? "",
      name: String(name),
      isEditable: element.isContentEditable === true,
      isMultiple: multiple || element.getAttribute("aria-multiselectable") === "true",
      isDisabled: disabled || readOnly || element.getAttribute("aria-disabled") === "true",
      isVisible: element.checkVisibility({ visibilityProperty: true }),
    };
  });
}

const DATES = new Set(["date", "time", "datetime-local", "month", "week"]);
const ROLES: Readonly<Record<string, ControlKind>> = {
  checkbox: "aria-checkbox",
  switch: "aria-checkbox",
  slider: "slider",
  spinbutton: "slider",
  combobox: "combobox",
  listbox: "listbox",
  radiogroup: "choices",
  group: "choices",
};
const BUTTONS = new Set(["submit", "button", "reset", "image", "hidden"]);

/** The kind of control that an element is; `undefined` where it is none. */
export function kindOf({ tag, type, role, isEditable }: ElementFacts): ControlKind | undefined {
  if (tag === "select") return "select";
  if (tag === "textarea") return "text";
  if (tag === "fieldset") return "choices";
  if (tag === "input") {
    if (type === "file") return "file";
    if (type === "checkbox") return "checkbox";
    if (type === "radio") return "choices";
    if (BUTTONS.has(type)) return undefined;
    if (DATES.has(type)) return "date";
    return role === "combobox" ? "combobox" : "text";
  }
  return ROLES[role] ?? (isEditable ? "editable" : undefined);
}
