import { randomUUID } from "node:crypto";
import type { Locator, Page } from "playwright-core";
import { textOf, type FilledField } from "../targets/target.ts";
import { writeWorkspaceFile } from "../targets/workspace-files.ts";
import type { Control, PageElement } from "./control.ts";

const MASK_COLOR = "#808080";
const TIMEOUT_MS = 15_000;
/** Shorter texts occur in pages by chance, and masking them would hide half of the page. */
const MIN_MASKED_CHARACTERS = 3;
const CONTROLS = "input, textarea, select, [contenteditable], [role=combobox], [role=textbox]";
const DEFAULT_FOLDER = "forms";

export interface ScreenshotSettings {
  workspace?: string | undefined;
  screenshotFolder?: string | undefined;
}

/** Takes a screenshot with everything personal painted over. @returns the file; `undefined` when there is no folder for it. */
export async function keepScreenshot(
  page: Page,
  name: string,
  fields: readonly FilledField[],
  filled: ReadonlyMap<string, { control: Control }>,
  { workspace, screenshotFolder }: ScreenshotSettings,
): Promise<string | undefined> {
  const root = screenshotFolder ?? workspace;
  if (root === undefined) return undefined;
  const personal = fields.filter(({ isPersonal }) => isPersonal);
  const own = personal.flatMap(({ field }) => filled.get(field.name)?.control.locator ?? []);
  const mask = [...own, ...(await placesWith(page, textsOf(personal)))];
  const picture = await page.screenshot({
    fullPage: true,
    mask,
    maskColor: MASK_COLOR,
    animations: "disabled",
    timeout: TIMEOUT_MS,
  });
  const folder = screenshotFolder === undefined ? `${DEFAULT_FOLDER}/` : "";
  return writeWorkspaceFile(root, `${folder}${name}-${randomUUID().slice(0, 8)}.png`, picture);
}

/** All texts in which personal values may appear on a page. */
function textsOf(fields: readonly FilledField[]): string[] {
  const texts = fields.flatMap(({ field, value }) => [
    textOf(field, value),
    ...(Array.isArray(value) ? value : [String(value)]),
  ]);
  return [...new Set(texts)].filter(({ length }) => length >= MIN_MASKED_CHARACTERS);
}

/** Elements that show one of the texts: text of the page, and controls to which the page copied it. */
async function placesWith(page: Page, texts: readonly string[]): Promise<Locator[]> {
  const places: Locator[] = [];
  if (texts.length === 0) return places;
  for (const frame of page.frames()) {
    places.push(...texts.map((text) => frame.getByText(text)));
    const controls = frame.locator(CONTROLS);
    const holding = await controls.evaluateAll(
      (elements: PageElement[], wanted) =>
        elements.flatMap((element, index) => {
          const { value = "", innerText = "" } = element;
          const shown = `${String(value)}\n${innerText}`.toLowerCase();
          return wanted.some((text) => shown.includes(text.toLowerCase())) ? [index] : [];
        }),
      [...texts],
    );
    places.push(...holding.map((index) => controls.nth(index)));
  }
  return places;
}
