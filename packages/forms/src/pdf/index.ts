export { createPdfTarget } from "./pdf-target.ts";
export type { PdfTargetSettings } from "./pdf-target.ts";
