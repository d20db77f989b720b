import { CemError } from "@cem/core";
import { importFromProject, isMissing } from "@cem/core/files";
import { formatDate } from "../form/dates.ts";
import { digitsOf, type FieldValue } from "../form/field-values.ts";
import type { Form, FormField } from "../form/form-schema.ts";

/** A field with the value to fill in. */
export interface FilledField {
  field: FormField;
  /** In clear text: only targets receive it. */
  value: FieldValue;
  /** The token of a personal text, for calls that replace tokens by values. */
  token?: string | undefined;
  /** Whether the value must not be shown anywhere but in the target. */
  isPersonal: boolean;
}

/** A request to fill a target. */
export interface FillRequest {
  form: Form;
  fields: readonly FilledField[];
  signal: AbortSignal;
  /** Whether to fill in and compare, and send nothing. */
  isTrial: boolean;
}

/** The content of a target after filling, field by field. */
export interface FieldReading {
  name: string;
  /** The value that was read back, in clear. Absent where the target can't be read. */
  value?: FieldValue | undefined;
  /** Whether that is what was filled in. */
  matches: boolean;
}

/** Why a field was not filled. `message` is a clause and contains none of the target's own text. */
export interface TargetProblem {
  /** Absent for a problem of the whole target. */
  field?: string | undefined;
  message: string;
}

/** The result of filling a target. */
export interface FillOutcome {
  readings: FieldReading[];
  problems: TargetProblem[];
  /** Files that were written: screenshots, or the filled document. Absolute paths. */
  screenshots: string[];
  output?: string | undefined;
  /** Whether the form was sent. */
  submitted: boolean;
  /** The result of a tool. */
  result?: unknown;
}

/** A target that forms fill. */
export interface FormTarget {
  readonly specificationVersion: "v1";
  /**
   * Fills fields, reads them back and compares.
   *
   * @throws CemError when the target can't be opened at all.
   */
  fill(request: FillRequest): Promise<FillOutcome>;
}

export function textOf({ type, format, options = [] }: FormField, value: FieldValue): string {
  if (format !== undefined) return formatDate(String(value), type, format);
  if (Array.isArray(value)) return value.map((item) => labelOfOption(options, item)).join(", ");
  return type === "select" || type === "radio" ? labelOfOption(options, String(value)) : String(value);
}

/** Whether a text that was read back is what was written. A target may reformat numbers. */
export function isSameText({ type }: FormField, written: string, read: string): boolean {
  const plain = (text: string): string => text.replaceAll(/\r\n?/g, "\n").trim();
  const [one, other] = [plain(written), plain(read)];
  if (one === other) return true;
  if (type === "phone") return digitsOf(one) === digitsOf(other) && other !== "";
  return (type === "number" || type === "integer") && other !== "" && Number(one) === Number(other);
}

/** Finds the wanted options among those that a target offers: by value, else by label. */
export function chooseOffered(
  { options = [] }: FormField,
  value: FieldValue,
  offered: readonly { value: string; label: string }[],
): number[] | undefined {
  const wanted = Array.isArray(value) ? value : [String(value)];
  const found = wanted.map((item) => {
    const label = labelOfOption(options, item);
    const byValue = offered.findIndex((one) => one.value === item);
    if (byValue >= 0) return byValue;
    return offered.findIndex(
      (one) => one.label.trim() === label || one.label.trim() === item || one.value === label,
    );
  });
  return found.includes(-1) ? undefined : found;
}

/** Compares the chosen options of a target with what was filled in. */
export function readChosen(
  { field, value }: Pick<FilledField, "field" | "value">,
  selected: readonly { value: string; label: string }[],
): { value: FieldValue; matches: boolean } {
  if (chooseOffered(field, value, selected)?.length === selected.length) return { value, matches: true };
  const values = selected.map((one) => one.value || one.label);
  return { value: Array.isArray(value) ? values : (values[0] ?? ""), matches: false };
}

function labelOfOption(options: NonNullable<FormField["options"]>, value: string): string {
  return options.find((option) => option.value === value)?.label ?? value;
}

/** Imports an optional package from the project. Must be the import's own `catch`: bundlers leave such imports alone. */
export function fromProject<Library>(name: string): (cause: unknown) => Promise<Library> {
  return async (cause) => {
    if (!isMissing(name, cause)) throw cause;
    const message = `Filling this form needs ${name}, which is not installed. Install it: npm install ${name}`;
    return importFromProject(
      name,
      cause,
      () => new CemError("PACKAGE_MISSING", message, { details: { packages: [name] }, cause }),
    );
  };
}
