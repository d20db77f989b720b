import type { Frame, Locator, Page } from "playwright-core";
import { labelOf } from "../form-schema.ts";
import type { FormField } from "../form-schema.ts";
import { kindOf, readFacts } from "./control.ts";
import type { Control, ElementFacts } from "./control.ts";

/** More elements than that are no one field. */
const MAX_ELEMENTS = 200;
/** What may not be seen, since pages draw their own in its place. */
const MAY_BE_HIDDEN = new Set(["file", "checkbox", "choices"]);

/** A control, or why there is none. */
export type Found = Control | "none" | "disabled" | "ambiguous";

/** Looks for the control of a field, in all frames and open shadow roots. */
export async function findControl(page: Page, field: FormField): Promise<Found> {
  let best: Found = "none";
  for (const frame of await framesOf(page, field)) {
    for (const locator of placesOf(frame, field)) {
      const found = await controlAt(frame, locator);
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

/** Where a field may be, the surest place first. */
function placesOf(frame: Frame, field: FormField): Locator[] {
  const { locate, name } = field;
  if (locate?.selector !== undefined) return [frame.locator(locate.selector)];
  const label = locate?.name ?? labelOf(field);
  const marked = new RegExp(`^\\s*${label.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")}\\s{0,9}[*:]{0,2}\\s*$`, "i");
  const attributes = [JSON.stringify(locate?.name ?? name)];
  return [
    frame.getByLabel(label, { exact: true }),
    frame.getByRole("radiogroup", { name: label, exact: true }),
    frame.getByRole("group", { name: label, exact: true }),
    frame.getByLabel(marked),
    ...attributes.flatMap((value) => [frame.locator(`[name=${value}]`), frame.locator(`[id=${value}]`)]),
    frame.getByPlaceholder(label, { exact: true }),
  ];
}

async function controlAt(frame: Frame, locator: Locator): Promise<Found> {
  const count = await locator.count();
  if (count === 0) return "none";
  if (count > MAX_ELEMENTS) return "ambiguous";
  const elements: { locator: Locator; facts: ElementFacts }[] = [];
  for (let index = 0; index < count; index += 1) {
    const element = locator.nth(index);
    const facts = await readFacts(element);
    const kind = kindOf(facts);
    if (kind !== undefined && (facts.isVisible || MAY_BE_HIDDEN.has(kind))) elements.push({ locator: element, facts });
  }
  const [first] = elements;
  if (first === undefined) return "none";
  const { facts } = first;
  const kind = kindOf(facts) ?? "text";
  const isSet = facts.tag === "input" && (kind === "choices" || (kind === "checkbox" && elements.length > 1));
  if (isSet) return setOf(frame, facts, elements.length);
  if (elements.length > 1) return "ambiguous";
  if (facts.isDisabled) return "disabled";
  if (kind === "choices") {
    const inside = first.locator.getByRole("radio").or(first.locator.getByRole("checkbox"));
    return (await inside.count()) === 0 ? "none" : { kind, locator: inside, frame, facts };
  }
  return { kind, locator: first.locator, frame, facts };
}

/** The radio buttons or check boxes of one name. */
function setOf(frame: Frame, facts: ElementFacts, count: number): Found {
  if (facts.name === "") return count > 1 ? "ambiguous" : "none";
  const locator = frame.locator(`input[type=${facts.type}][name=${JSON.stringify(facts.name)}]`);
  return { kind: "choices", locator, frame, facts };
}
