import type * as pdfLibrary from "@cantoo/pdf-lib";
import type { PDFDocument } from "@cantoo/pdf-lib";
import { importOptional } from "../optional-package.ts";

export type PdfLibrary = typeof pdfLibrary;

/** @throws CemError `PACKAGE_MISSING` */
export function importPdfLibrary(): Promise<PdfLibrary> {
  return importOptional("@cantoo/pdf-lib", () => import("@cantoo/pdf-lib"));
}

/** @throws CemError `PACKAGE_MISSING` */
export async function importFontkit(): Promise<Parameters<PDFDocument["registerFontkit"]>[0]> {
  const fontkit = await importOptional("@pdf-lib/fontkit", () => import("@pdf-lib/fontkit"));
  return fontkit.default;
}
