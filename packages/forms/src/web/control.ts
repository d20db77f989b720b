import type { Frame, Locator } from "playwright-core";
import type { FieldValue } from "../form/field-values.ts";
import type { FieldType, FormField } from "../form/form-schema.ts";

/** The members of elements that are read inside a page. DOM types are not part of this program. */
export interface PageElement {
  localName: string;
  type?: unknown;
  name?: unknown;
  value?: unknown;
  checked?: boolean;
  multiple?: boolean;
  disabled?: boolean;
  readOnly?: boolean;
  maxLength?: number;
  isContentEditable?: boolean;
  innerText?: string;
  parentElement?: PageElement | null;
  labels?: Iterable<PageElement> | null;
  files?: Iterable<{ name: string }> | null;
  options?: Iterable<{ value: string; label: string; selected: boolean }>;
  validity?: Readonly<Record<string, boolean>>;
  form?: { noValidate: boolean; matches(selector: string): boolean } | null;
  formNoValidate?: boolean;
  getAttribute(name: string): string | null;
  checkVisibility(options: { visibilityProperty: boolean }): boolean;
}

export const MAX_READ_CHARACTERS = 100_000;
export const OPTIONS_TIMEOUT_MS = 3_000;

/** The element of a page that a field is filled into. */
export type ControlKind =
  | "text"
  | "date"
  | "checkbox"
  | "select"
  | "file"
  | "editable"
  | "choices"
  | "slider"
  | "combobox"
  | "listbox";

export interface Control {
  kind: ControlKind;
  /** The element; for `choices`, the radio buttons or check boxes. */
  locator: Locator;
  frame: Frame;
  facts: ElementFacts;
}

export interface Reading {
  value: FieldValue | undefined;
  matches: boolean;
}

export type ElementFacts = Awaited<ReturnType<typeof readFacts>>;

export function readFacts(locator: Locator) {
  return locator.evaluate((element: PageElement) => {
    const { type = "", name = "", multiple = false, disabled = false, readOnly = false } = element;
    const isVisible = (one: PageElement): boolean => one.checkVisibility({ visibilityProperty: true });
    const { parentElement = null } = element;
    const around = [...(element.labels ?? []), ...(parentElement === null ? [] : [parentElement])];
    const role = element.getAttribute("role") ?? "";
    return {
      tag: element.localName,
      type: String(type).toLowerCase(),
      role: role.trim().split(" ")[0] ?? "",
      name: String(name),
      isEditable: element.isContentEditable === true,
      isMultiple: multiple || element.getAttribute("aria-multiselectable") === "true",
      isDisabled: disabled || readOnly || element.getAttribute("aria-disabled") === "true",
      isVisible: isVisible(element),
      /** Whether its label or an element around it is visible. */
      hasVisiblePlace: around.some(isVisible),
    };
  });
}

const DATES = new Set(["date", "time", "datetime-local", "month", "week"]);
const ROLES: Readonly<Record<string, ControlKind>> = {
  checkbox: "checkbox",
  switch: "checkbox",
  slider: "slider",
  spinbutton: "slider",
  combobox: "combobox",
  listbox: "listbox",
  radiogroup: "choices",
  group: "choices",
};
const BUTTONS = new Set(["submit", "button", "reset", "image", "hidden"]);

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

const CHOICES: readonly ControlKind[] = ["select", "choices", "combobox", "listbox"];
const TEXTS: readonly ControlKind[] = ["text", "date", "editable", "combobox"];
/** The kinds of controls that accept values of a type. Other types are accepted by all kinds that take text. */
const KINDS: Partial<Record<FieldType, readonly ControlKind[]>> = {
  boolean: ["checkbox", ...CHOICES],
  number: [...TEXTS, "slider", "select", "choices"],
  integer: [...TEXTS, "slider", "select", "choices"],
  select: [...CHOICES, "text"],
  radio: [...CHOICES, "text"],
  multiselect: ["checkbox", ...CHOICES],
  file: ["file"],
};

/** Whether a control can hold the value of a field. Other controls with the same name are not meant. */
export function suits({ type }: FormField, kind: ControlKind): boolean {
  return (KINDS[type] ?? [...TEXTS, "select"]).includes(kind);
}
