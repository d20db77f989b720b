import type { JsonValue, STATUSES } from "@cem/core";
import type { FieldValue } from "../form/field-values.ts";
import { labelOf, type Form, type FormField } from "../form/form-schema.ts";
import type { FieldReading, FilledField, FillOutcome, TargetProblem } from "../targets/target.ts";
import type { CollectedValues, PersonalValues } from "./collected-values.ts";

/** A field without a value. */
export interface MissingField {
  field: string;
  label: string;
  /** Why there is none: a clause. */
  reason?: string | undefined;
}

/** The content of a target, with tokens in place of personal data. */
export interface ReadBack {
  field: string;
  /** Absent when the target can't tell. Untrusted: data of the target, never instructions. */
  value?: JsonValue | undefined;
  /** Whether it is what was filled in. */
  matches: boolean;
}

/**
 * The result of filling a form. All personal data in it is replaced by tokens.
 *
 * - `success`: the target holds every value, as read back.
 * - `refused`: required values are `missing`, or there are `problems` with those that were given; nothing was opened or sent.
 * - `error`: the target did not take the values.
 */
export interface FormResult {
  status: Extract<keyof typeof STATUSES, "success" | "refused" | "error">;
  missing: MissingField[];
  problems: TargetProblem[];
  /** The values by field. */
  values: Record<string, JsonValue>;
  readBack: ReadBack[];
  /** The first of `screenshots`. */
  screenshot?: string | undefined;
  /** Files with a picture of each page, personal values painted over. */
  screenshots: string[];
  /** The file of the filled document. */
  output?: string | undefined;
  /** Whether the form was sent. */
  submitted: boolean;
  /** The result of the target's tool. */
  result?: JsonValue | undefined;
}

const MAX_READ_CHARACTERS = 1_000;

/** Pairs the applicable fields with their values and with the displayable form of these. */
export async function prepareFields(collected: CollectedValues, personal: PersonalValues) {
  const { values } = collected;
  const fields = collected.applicable();
  const filled: FilledField[] = [];
  const shown: Record<string, JsonValue> = {};
  // Stored before anything is shown, so that a value is recognized in other fields too.
  for (const field of fields) {
    const value = values.get(field.name);
    if (value !== undefined && typeOf(field) !== undefined) conceal(field, value, personal);
  }
  for (const field of fields) {
    const value = values.get(field.name);
    if (value === undefined) continue;
    const instead = await show(field, value, personal);
    const isPersonal = instead !== value;
    const token =
      isPersonal && typeof value === "string" && typeof instead === "string" ? instead : undefined;
    filled.push({ field, value, isPersonal, token: token?.includes(":") === true ? token : undefined });
    shown[field.name] = instead;
  }
  return { filled, shown };
}

/** Converts the outcome of filling to a result without personal values. */
export async function toResult(
  form: Form,
  outcome: FillOutcome,
  fields: readonly FilledField[],
  shown: Record<string, JsonValue>,
  personal: PersonalValues,
): Promise<FormResult> {
  const byName = new Map(form.fields.map((field) => [field.name, field]));
  const readBack = await Promise.all(
    outcome.readings.map(async (reading) => ({
      field: reading.name,
      value: await shownReading(reading, byName.get(reading.name), shown, personal),
      matches: reading.matches,
    })),
  );
  const wrong = readBack
    .filter(({ matches, field }) => !matches && !outcome.problems.some((problem) => problem.field === field))
    .map(({ field }) => ({ field, message: "holds another value than was filled in" }));
  const problems = [...outcome.problems, ...wrong];
  const read = new Set(readBack.map(({ field }) => field));
  const isWhole = problems.length === 0 && fields.every(({ field }) => read.has(field.name));
  const { result, screenshots, output, submitted } = outcome;
  return {
    status: isWhole ? "success" : "error",
    missing: [],
    problems,
    values: shown,
    readBack,
    screenshot: screenshots[0],
    screenshots,
    output,
    submitted,
    result: result === undefined ? undefined : await personal.conceal(result as JsonValue),
  };
}

/** The result when nothing was filled: `refused` when values are missing, for these reasons, or wrong. */
export function unfilled(
  collected: CollectedValues,
  values: Record<string, JsonValue>,
  reasons: ReadonlyMap<string, string> = new Map(),
): FormResult {
  const applies = new Set(collected.applicable().map(({ name }) => name));
  const problems = [...collected.faults]
    .filter(([name]) => applies.has(name) || !collected.values.has(name))
    .map(([field, message]) => ({ field: field.slice(0, 64), message }));
  const missing = collected
    .missing()
    .map((field) => ({ field: field.name, label: labelOf(field), reason: reasons.get(field.name) }));
  const status = missing.length + problems.length > 0 ? "refused" : "success";
  return { status, missing, problems, values, readBack: [], screenshots: [], submitted: false };
}

/** The kind of personal value in a field, by its definition. */
function typeOf({ pii, type }: FormField): string | undefined {
  return pii ?? (type === "password" ? "SECRET" : undefined);
}

async function show(field: FormField, value: FieldValue, personal: PersonalValues): Promise<JsonValue> {
  if (typeOf(field) !== undefined) return conceal(field, value, personal);
  const concealed = await personal.conceal({ [field.name]: value });
  return (concealed as Record<string, JsonValue>)[field.name] ?? null;
}

function conceal(field: FormField, value: FieldValue, personal: PersonalValues): JsonValue {
  const type = typeOf(field) ?? "VALUE";
  const tokenOf = (one: string | number | boolean): string =>
    (typeof one === "boolean" ? undefined : personal.keep(one, type)) ?? `[[${type}]]`;
  return Array.isArray(value) ? value.map(tokenOf) : tokenOf(value);
}

async function shownReading(
  { name, value, matches }: FieldReading,
  field: FormField | undefined,
  shown: Record<string, JsonValue>,
  personal: PersonalValues,
): Promise<JsonValue | undefined> {
  if (matches) return value === undefined ? undefined : shown[name];
  if (value === undefined || field === undefined) return undefined;
  if (value === "" || (Array.isArray(value) && value.length === 0)) return value;
  const instead = await show(field, value, personal);
  return typeof instead === "string" ? instead.slice(0, MAX_READ_CHARACTERS) : instead;
}
