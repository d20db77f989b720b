import type { PDFDocument, PDFFont, PDFField } from "@cantoo/pdf-lib";
import type * as pdfLibrary from "@cantoo/pdf-lib";
import type fontkitOfPdfLib from "@pdf-lib/fontkit";
import { chooseOffered, fromProject, isSameText, readChosen, textOf } from "../targets/target.ts";
import type { FilledField } from "../targets/target.ts";
import { readWorkspaceFile } from "../targets/workspace-files.ts";
import type { FieldValue } from "../form/field-values.ts";
import type { FormField } from "../form/form-schema.ts";

/** Line ends and tabs are laid out, not drawn. */
const NOT_DRAWN = new Set(["\n", "\r", "\t"]);
const MAX_FONT_BYTES = 50 * 1024 * 1024;

/** Picks one of the PDF's standard fonts if it has every character of the texts, else the one that the form names. */
export async function pickFont(
  { StandardFonts }: Pick<PdfLibrary, "StandardFonts">,
  document: PDFDocument,
  texts: readonly string[],
  fontFile: string | undefined,
  workspace: string,
): Promise<PdfFont> {
  const standard = toFont(await document.embedFont(StandardFonts.Helvetica), false);
  if (fontFile === undefined || texts.every((text) => standard.lacking(text) === 0)) return standard;
  const fontkit = await import("@pdf-lib/fontkit").catch(
    fromProject<{ default: typeof fontkitOfPdfLib }>("@pdf-lib/fontkit"),
  );
  document.registerFontkit(fontkit.default);
  const { bytes } = await readWorkspaceFile(workspace, fontFile, { max_bytes: MAX_FONT_BYTES });
  // Embeds the whole font: a reader of the document may enter other characters into its fields.
  return toFont(await document.embedFont(bytes), true);
}

export type PdfFont = ReturnType<typeof toFont>;

function toFont(font: PDFFont, isOwn: boolean) {
  const drawn = new Set(font.getCharacterSet());
  return {
    font,
    /** Whether it is the font that the form names. */
    isOwn,
    /** How many different characters of a text the font lacks. */
    lacking: (text: string): number =>
      [...new Set(text)].filter((one) => !NOT_DRAWN.has(one) && !drawn.has(one.codePointAt(0) ?? 0)).length,
  };
}

export type PdfLibrary = typeof pdfLibrary;

const NO_SUCH_OPTION = "has no such option in the document";

export interface PdfContext {
  library: PdfLibrary;
  document: PDFDocument;
  workspace: string;
}

export function findPdfField(fields: readonly PDFField[], { name, label, locate }: FormField) {
  if (locate?.name !== undefined) return fields.find((field) => field.getName() === locate.name);
  const byLastPart = fields.filter((field) => field.getName().split(".").at(-1) === name);
  return (
    fields.find((field) => field.getName() === name) ??
    (label === undefined ? undefined : fields.find((field) => field.getName() === label)) ??
    (byLastPart.length === 1 ? byLastPart[0] : undefined)
  );
}

/** Fills a field of a document. @returns why it can't be filled: a clause. */
export async function fillPdfField(
  target: PDFField,
  { field, value }: FilledField,
  { PDFTextField, PDFCheckBox, PDFRadioGroup, PDFDropdown, PDFOptionList }: PdfLibrary,
): Promise<string | undefined> {
  if (target.isReadOnly()) return "can't be changed in the document";
  if (target instanceof PDFTextField) {
    const text = textOf(field, value);
    const most = target.getMaxLength();
    if (most !== undefined && text.length > most) return `takes at most ${most} characters in the document`;
    if (text.includes("\n") && !target.isMultiline()) return "takes one line in the document";
    target.setText(text);
    return undefined;
  }
  if (target instanceof PDFCheckBox) {
    if (typeof value !== "boolean") return "is a check box in the document, which takes yes or no";
    if (value) target.check();
    else target.uncheck();
    return undefined;
  }
  if (target instanceof PDFRadioGroup || target instanceof PDFDropdown || target instanceof PDFOptionList) {
    const offered = target.getOptions();
    const chosen = chooseOffered(field, value, offeredAs(offered));
    if (chosen === undefined) return NO_SUCH_OPTION;
    const names = chosen.map((index) => offered[index] ?? "");
    if (target instanceof PDFRadioGroup) {
      if (names.length !== 1) return "takes one option in the document";
      target.select(names[0] ?? "");
      return undefined;
    }
    if (names.length > 1 && !target.isMultiselect()) return "takes one option in the document";
    target.select(names);
    return undefined;
  }
  return "is a kind of field that can't be filled, such as an image or a signature";
}

export function readPdfField(
  target: PDFField,
  { field, value }: FilledField,
  { PDFTextField, PDFCheckBox, PDFRadioGroup, PDFDropdown, PDFOptionList }: PdfLibrary,
): { value: FieldValue | undefined; matches: boolean } {
  if (target instanceof PDFTextField) {
    const text = target.getText() ?? "";
    return { value: text, matches: isSameText(field, textOf(field, value), text) };
  }
  if (target instanceof PDFCheckBox) {
    const isChecked = target.isChecked();
    return { value: isChecked, matches: isChecked === value };
  }
  if (target instanceof PDFRadioGroup || target instanceof PDFDropdown || target instanceof PDFOptionList) {
    const selected = target.getSelected();
    return readChosen({ field, value }, offeredAs(selected === undefined ? [] : [selected].flat()));
  }
  return { value: undefined, matches: false };
}

/** Options of a document have one text as value and label. */
function offeredAs(texts: readonly string[]): { value: string; label: string }[] {
  return texts.map((text) => ({ value: text, label: text }));
}
