import type { PDFDocument, PDFFont } from "@cantoo/pdf-lib";
import type * as pdfLibrary from "@cantoo/pdf-lib";
import { importOptional } from "../targets/target.ts";
import { readWorkspaceFile } from "../targets/workspace-files.ts";

/** Line ends and tabs are laid out, not drawn. */
const NOT_DRAWN = new Set(["\n", "\r", "\t"]);
const MAX_FONT_BYTES = 50 * 1024 * 1024;

/** The font that texts are written in. */
export interface PdfFont {
  font: PDFFont;
  /** How many different characters of a text the font lacks. */
  lacking: (text: string) => number;
  /** Whether it is a font that the form brings. */
  isOwn: boolean;
}

/**
 * Picks the font for texts: one of the PDF's standard fonts where it has every character, else the one that the form names.
 *
 * @throws CemError `FILE_UNREADABLE`, `PACKAGE_MISSING`, or what the font's parser throws.
 */
export async function pickFont(
  { StandardFonts }: Pick<PdfLibrary, "StandardFonts">,
  document: PDFDocument,
  texts: readonly string[],
  fontFile: string | undefined,
  workspace: string,
): Promise<PdfFont> {
  const standard = toFont(await document.embedFont(StandardFonts.Helvetica), false);
  if (fontFile === undefined || texts.every((text) => standard.lacking(text) === 0)) return standard;
  document.registerFontkit(await importFontkit());
  const { bytes } = await readWorkspaceFile(workspace, fontFile, { max_bytes: MAX_FONT_BYTES });
  // The whole font: a reader of the document may write other characters into its fields.
  return toFont(await document.embedFont(bytes), true);
}

function toFont(font: PDFFont, isOwn: boolean): PdfFont {
  const drawn = new Set(font.getCharacterSet());
  return {
    font,
    isOwn,
    lacking: (text) =>
      [...new Set(text)].filter((one) => !NOT_DRAWN.has(one) && !drawn.has(one.codePointAt(0) ?? 0)).length,
  };
}

export type PdfLibrary = typeof pdfLibrary;

/** @throws CemError `PACKAGE_MISSING` */
export function importPdfLibrary(): Promise<PdfLibrary> {
  return importOptional("@cantoo/pdf-lib", () => import("@cantoo/pdf-lib"));
}

/** @throws CemError `PACKAGE_MISSING` */
async function importFontkit(): Promise<Parameters<PDFDocument["registerFontkit"]>[0]> {
  const fontkit = await importOptional("@pdf-lib/fontkit", () => import("@pdf-lib/fontkit"));
  return fontkit.default;
}
