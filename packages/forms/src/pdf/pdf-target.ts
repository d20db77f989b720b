import type { PDFDocument } from "@cantoo/pdf-lib";
import { CemError } from "@cem/core";
import type { PdfTargetDefinition } from "../form/form-schema.ts";
import { fromProject, textOf } from "../targets/target.ts";
import type { FieldReading, FillOutcome, FillRequest, FormTarget, TargetProblem } from "../targets/target.ts";
import { readWorkspaceFile, writeWorkspaceFile } from "../targets/workspace-files.ts";
import { fillPdfField, findPdfField, readPdfField, pickFont } from "./pdf-fields.ts";
import type { PdfContext, PdfFont, PdfLibrary } from "./pdf-fields.ts";

const NO_PACKAGE: ReadonlySet<string> = new Set(["PACKAGE_MISSING", "FOLDER_UNTRUSTED"]);
const MAX_TEMPLATE_BYTES = 50 * 1024 * 1024;

/** Settings of {@link createPdfTarget}. */
export interface PdfTargetSettings {
  /** The folder of the templates and of the filled documents. Nothing outside is read or written. */
  workspace: string;
}

/** Creates a target that fills PDF files. It needs the optional package `@cantoo/pdf-lib`. */
export function createPdfTarget({ workspace }: PdfTargetSettings): FormTarget {
  return {
    specificationVersion: "v1",
    async fill(request) {
      const { target } = request.form;
      if (target?.type !== "pdf") throw new CemError("OPTION_INVALID", "The form does not fill a PDF file.");
      const library = await import("@cantoo/pdf-lib").catch(fromProject<PdfLibrary>("@cantoo/pdf-lib"));
      const limit = { max_bytes: MAX_TEMPLATE_BYTES };
      const { bytes } = await readWorkspaceFile(workspace, target.template, limit).catch((error: unknown) => {
        throw failed("template", target, error);
      });
      const document = await load(library, bytes, target.template);
      return fillDocument(request, target, { library, document, workspace });
    },
  };
}

async function fillDocument(
  { fields, signal, isTrial }: FillRequest,
  definition: PdfTargetDefinition,
  context: PdfContext,
): Promise<FillOutcome> {
  const { library, document, workspace } = context;
  const form = document.getForm();
  const problems: TargetProblem[] = [];
  // Viewers would show it instead of the fields that are filled here.
  if (form.hasXFA()) form.deleteXFA();
  const offered = form.getFields();
  const pairs = fields.map((filled) => ({ filled, target: findPdfField(offered, filled.field) }));
  const textIn = ({ filled: { field, value }, target }: (typeof pairs)[number]) =>
    target instanceof library.PDFTextField ? textOf(field, value) : undefined;
  const texts = pairs.flatMap((pair) => textIn(pair) ?? []);
  const fontFile = definition.font;
  const font = await pickFont(library, document, texts, fontFile, workspace).catch((error: unknown) => {
    if (CemError.isInstance(error) && NO_PACKAGE.has(error.code)) throw error;
    throw failed("font", definition, error);
  });
  for (const pair of pairs) {
    const { filled, target } = pair;
    signal.throwIfAborted();
    const fault =
      target === undefined
        ? "is not in the document"
        : (lackOf(textIn(pair), font) ?? (await fillPdfField(target, filled, library).catch(describe)));
    if (fault !== undefined) problems.push({ field: filled.field.name, message: fault });
  }
  if (problems.length > 0) return { readings: [], problems, screenshots: [], submitted: false };
  form.updateFieldAppearances(font.font);
  const bytes = await document.save({ updateFieldAppearances: false });
  const readings = await readBack(bytes, pairs, library);
  const outcome = { readings, problems, screenshots: [], submitted: false };
  if (isTrial || readings.some(({ matches }) => !matches)) return outcome;
  if (definition.flatten) form.flatten({ updateFieldAppearances: false });
  const content = definition.flatten ? await document.save({ updateFieldAppearances: false }) : bytes;
  const output = await writeWorkspaceFile(workspace, definition.output, content).catch((error: unknown) => {
    throw failed("output", definition, error);
  });
  return { ...outcome, output };
}

async function readBack(
  bytes: Uint8Array,
  pairs: readonly { filled: FillRequest["fields"][number]; target: { getName(): string } | undefined }[],
  library: PdfLibrary,
): Promise<FieldReading[]> {
  const saved = (await library.PDFDocument.load(bytes)).getForm().getFields();
  const byName = new Map(saved.map((field) => [field.getName(), field]));
  return pairs.flatMap(({ filled, target }) => {
    const found = target && byName.get(target.getName());
    return found === undefined ? [] : [{ name: filled.field.name, ...readPdfField(found, filled, library) }];
  });
}

function lackOf(text: string | undefined, { lacking, isOwn }: PdfFont): string | undefined {
  const count = text === undefined ? 0 : lacking(text);
  if (count === 0) return undefined;
  const characters = count === 1 ? "a character" : `${count} characters`;
  return isOwn
    ? `has ${characters} that the form's font lacks; name another font with target.font`
    : `has ${characters} that the document's fonts lack; name a font file that has them with target.font`;
}

async function load(library: PdfLibrary, bytes: Uint8Array, name: string): Promise<PDFDocument> {
  try {
    const document = await library.PDFDocument.load(bytes);
    // Throws for a damaged file, which may load without the catalog that holds the form.
    document.getForm();
    return document;
  } catch (cause) {
    const why =
      cause instanceof library.EncryptedPDFError
        ? "it is encrypted; save it without a password"
        : "it is not a PDF file, or a damaged one";
    throw new CemError("FORM_TARGET_FAILED", `${name} can't be filled: ${why}.`, {
      details: { file: name },
      cause,
    });
  }
}

function failed(part: "template" | "output" | "font", target: PdfTargetDefinition, cause: unknown): CemError {
  const file = target[part] ?? "";
  const why = CemError.isInstance(cause) ? cause.message : "is a file that can't be used";
  const message = `target.${part} ${JSON.stringify(file)} ${why}.`;
  return new CemError("FORM_TARGET_FAILED", message, { details: { part, file }, cause });
}

/** Errors of the library quote values. */
function describe(error: unknown): string {
  return CemError.isInstance(error) ? error.message : "could not be filled in";
}
