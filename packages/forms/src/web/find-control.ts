import type { Frame, Locator, Page } from "playwright-core";
import { labelOf, type FormField } from "../form/form-schema.ts";
import { kindOf, readFacts, suits, type Control, type ElementFacts } from "./control.ts";

/** More elements than this can't be one field. */
const MAX_ELEMENTS = 200;
/** The field types whose controls may be several elements, and the roles of elements that group these. */
const GROUPED: ReadonlySet<string> = new Set(["radio", "select", "multiselect", "boolean"]);
const GROUPS = ["radiogroup", "group"] as const;
/** Native controls that pages may hide to draw their own. */
const MAY_BE_HIDDEN = new Set(["file", "checkbox", "choices"]);

export type Found = Control | "none" | "disabled" | "ambiguous";

/** Finds the control of a field, in all frames and open shadow roots. */
export async function findControl(page: Page, field: FormField): Promise<Found> {
  let best: Found = "none";
  for (const frame of await framesOf(page, field)) {
    const places = placesOf(frame, field);
    const counts = await Promise.all(places.map((place) => place.count()));
    for (const [index, place] of places.entries()) {
      const found = await controlAt(frame, place, counts[index] ?? 0, field);
      if (typeof found !== "string") return found;
      if (found !== "none") best = found;
    }
  }
  return best;
}

async function framesOf(page: Page, { locate }: FormField): Promise<Frame[]> {
  if (locate?.frame === undefined) return page.frames();
  const handles = await page.locator(locate.frame).elementHandles();
  const frames = await Promise.all(handles.map((handle) => handle.contentFrame()));
  return frames.filter((frame) => frame !== null);
}

/** The locators of a field, most reliable first. */
function placesOf(frame: Frame, field: FormField): Locator[] {
  const { locate } = field;
  if (locate?.selector !== undefined) return [frame.locator(locate.selector)];
  const label = locate?.name ?? labelOf(field);
  const marked = new RegExp(
    `^\\s*${label.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")}\\s{0,9}[*:]{0,2}\\s*$`,
    "i",
  );
  const attribute = JSON.stringify(nameOf(field));
  return [
    frame.getByLabel(label, { exact: true }),
    // Lookup by role and name is expensive: the browser computes the names of the whole page.
    ...(GROUPED.has(field.type)
      ? GROUPS.map((role) => frame.getByRole(role, { name: label, exact: true }))
      : []),
    frame.getByLabel(marked),
    frame.locator(`[name=${attribute}]`),
    frame.locator(`[id=${attribute}]`),
    frame.getByPlaceholder(label, { exact: true }),
  ];
}

async function controlAt(frame: Frame, locator: Locator, count: number, field: FormField): Promise<Found> {
  if (count === 0) return "none";
  if (count > MAX_ELEMENTS) return "ambiguous";
  const elements: { locator: Locator; facts: ElementFacts }[] = [];
  for (let index = 0; index < count; index += 1) {
    const element = locator.nth(index);
    const facts = await readFacts(element);
    const kind = kindOf(facts);
    if (kind === undefined || !(facts.isVisible || (facts.hasVisiblePlace && MAY_BE_HIDDEN.has(kind))))
      continue;
    if (field.locate?.selector !== undefined || suits(field, kind))
      elements.push({ locator: element, facts });
  }
  const [first] = elements;
  if (first === undefined) return "none";
  const { facts } = first;
  const kind = kindOf(facts) ?? "text";
  if (
    facts.tag === "input" &&
    (kind === "choices" || (kind === "checkbox" && field.type === "multiselect"))
  ) {
    // A single button with the label of the field is an option of another field, unlike a group with its name.
    const isSet = field.locate?.selector !== undefined || elements.length > 1 || facts.name === nameOf(field);
    if (!isSet || facts.name === "") return isSet ? "ambiguous" : "none";
    const set = frame.locator(`input[type=${facts.type}][name=${JSON.stringify(facts.name)}]`);
    return { kind: "choices", locator: set, frame, facts };
  }
  if (elements.length > 1) return "ambiguous";
  if (facts.isDisabled) return "disabled";
  if (kind === "choices") {
    const inside = first.locator.getByRole("radio").or(first.locator.getByRole("checkbox"));
    return (await inside.count()) === 0 ? "none" : { kind, locator: inside, frame, facts };
  }
  return { kind, locator: first.locator, frame, facts };
}

function nameOf({ locate, name }: FormField): string {
  return locate?.name ?? name;
}
