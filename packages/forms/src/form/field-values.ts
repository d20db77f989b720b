import { RE2JS, RE2JSException } from "re2js";
import { asValue, DATE_EXAMPLES, readDate } from "./dates.ts";
import type { Condition, FieldType, FormField, Scalar } from "./form-schema.ts";

/** Longer texts match no pattern. */
const MAX_MATCHED_CHARACTERS = 10_000;
const NO_PATTERN =
  "is not a pattern of RE2, which has no lookaround, no reference to a group, and at most 1,000 repetitions";

/** Compiles a pattern with RE2, in linear time. @returns a test of whole texts; or why it can't be used: a clause. */
export function compilePattern(source: string): { matches: (text: string) => boolean } | { fault: string } {
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    return { matches: (text) => text.length <= MAX_MATCHED_CHARACTERS && compiled.matches(text) };
  } catch (error) {
    if (error instanceof RE2JSException) return { fault: NO_PATTERN };
    throw error;
  }
}

/** The value of a field. Dates are texts of ISO 8601, files paths. */
export type FieldValue = string | number | boolean | string[];

export function fieldsOf(condition: Condition | undefined): string[] {
  if (condition === undefined) return [];
  if ("all" in condition) return condition.all.flatMap(fieldsOf);
  if ("any" in condition) return condition.any.flatMap(fieldsOf);
  return "not" in condition ? fieldsOf(condition.not) : [condition.field];
}

/** Whether a condition holds. For a list, one item that meets it is enough. */
export function holds(
  condition: Condition,
  values: ReadonlyMap<string, FieldValue>,
  typeOf: (field: string) => FieldType | undefined,
): boolean {
  if ("all" in condition) return condition.all.every((one) => holds(one, values, typeOf));
  if ("any" in condition) return condition.any.some((one) => holds(one, values, typeOf));
  if ("not" in condition) return !holds(condition.not, values, typeOf);
  const type = typeOf(condition.field) ?? "text";
  const value = values.get(condition.field);
  if (condition.filled !== undefined) return condition.filled === (value !== undefined);
  const isOneOf = (wanted: readonly Scalar[]): boolean => {
    const items = new Set((Array.isArray(value) ? value : [value]).flatMap((item) => item ?? []).map(String));
    return wanted.some((one) => items.has(asValue(one, type)));
  };
  if (condition.equals !== undefined) return isOneOf([condition.equals]);
  if (condition.not_equals !== undefined) return !isOneOf([condition.not_equals]);
  return condition.in === undefined ? !isOneOf(condition.not_in ?? []) : isOneOf(condition.in);
}

/** A value that fits its field, or why it does not: a clause that never quotes the value. */
export type CheckedValue = { ok: true; value: FieldValue } | { ok: false; fault: string };

const MAX_TEXT_CHARACTERS = 100_000;
const MAX_ITEMS = 1_000;
const MAX_SHOWN_OPTIONS = 20;
const EMAIL = /^[^\s@<>"(),;:]{1,64}@[A-Za-z\d](?:[A-Za-z\d-]{0,62})(?:\.[A-Za-z\d-]{1,63}){1,8}$/u;
const PHONE = /^\+?[\d\s().\-/]{3,40}$/;
const MIN_PHONE_DIGITS = 3;
const COLOR = /^#[\da-f]{6}$/i;
const NUMBER = /^[+-]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:e[+-]?\d{1,3})?$/i;
const YES = /^(?:true|yes|y|on|1)$/i;
const NO = /^(?:false|no|n|off|0)$/i;
/** Characters that no single line of a form can hold. */
// oxlint-disable-next-line no-control-regex -- these are what it looks for
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/;

export function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

/** Reads a value for a field: converts texts that mean a number, a yes or a choice. */
export function checkValue(field: FormField, given: unknown): CheckedValue {
  switch (field.type) {
    case "number":
    case "integer":
      return checkNumber(field, given);
    case "boolean":
      return checkBoolean(given);
    case "multiselect":
      return checkItems(field, given, (item) => checkChoice(field, item));
    case "file":
      return checkItems(field, given, (item) =>
        typeof item === "string" ? good(item) : bad("must be the path of a file"),
      );
    case "select":
    case "radio":
      return checkChoice(field, given);
    default:
      return checkText(field, given);
  }
}

function checkNumber({ type, min, max }: FormField, given: unknown): CheckedValue {
  const text = typeof given === "string" ? given.trim() : "";
  const value = typeof given === "number" ? given : NUMBER.test(text) ? Number(text) : NaN;
  const kind = type === "integer" ? "a whole number" : "a number";
  if (!Number.isFinite(value) || (type === "integer" && !Number.isSafeInteger(value)))
    return bad(`must be ${kind}`);
  if (typeof min === "number" && value < min) return bad(`must be ${min} or more`);
  return typeof max === "number" && value > max ? bad(`must be ${max} or less`) : good(value);
}

function checkBoolean(given: unknown): CheckedValue {
  if (typeof given === "boolean") return good(given);
  const text = String(given).trim();
  if (YES.test(text)) return good(true);
  return NO.test(text) ? good(false) : bad("must be yes or no");
}

function checkItems(
  { min_items: least = 0, max_items: most, type }: FormField,
  given: unknown,
  check: (item: unknown) => CheckedValue,
): CheckedValue {
  const items: unknown[] = Array.isArray(given) ? given : [given];
  const limit = most ?? (type === "file" ? 1 : MAX_ITEMS);
  if (items.length < least) return bad(`must be at least ${least}, and ${items.length} are given`);
  if (items.length > limit) return bad(`must be at most ${limit}, and ${items.length} are given`);
  const checked = items.map(check);
  const wrong = checked.find((one) => !one.ok);
  if (wrong !== undefined) return wrong;
  return good([...new Set(checked.flatMap((one) => (one.ok ? [String(one.value)] : [])))]);
}

function checkChoice({ options = [] }: FormField, given: unknown): CheckedValue {
  const text = String(given);
  const found =
    options.find(({ value }) => value === text) ??
    options.find(({ label }) => label.toLowerCase() === text.trim().toLowerCase());
  if (found !== undefined) return good(found.value);
  const shown = options.slice(0, MAX_SHOWN_OPTIONS).map(({ value }) => value);
  const more = options.length > shown.length ? ` and ${options.length - shown.length} more` : "";
  return bad(`must be one of: ${shown.join(", ")}${more}`);
}

function checkText(field: FormField, given: unknown): CheckedValue {
  if (typeof given !== "string" && !Number.isFinite(given)) return bad("must be a text");
  const { type, pattern, pattern_hint: hint, min_length: least = 0, max_length: most } = field;
  const isMultiline = type === "textarea";
  const text = isMultiline ? String(given).replaceAll(/\r\n?/g, "\n") : String(given);
  const longest = pattern === undefined ? MAX_TEXT_CHARACTERS : MAX_MATCHED_CHARACTERS;
  const limit = Math.min(most ?? Infinity, longest);
  // Checked before anything is counted or matched.
  if (text.length > limit * 2) return bad(`must have at most ${limit} characters`);
  const { length } = Array.from(text);
  if (length < least) return bad(`must have at least ${least} characters`);
  if (length > limit) return bad(`must have at most ${limit} characters`);
  if (CONTROL.test(text) || !text.isWellFormed()) return bad("has characters that no form can hold");
  if (!isMultiline && /[\n\r\u2028\u2029]/.test(text)) return bad("must be one line");
  const formed = checkForm(field, text);
  if (!formed.ok || pattern === undefined) return formed;
  const compiled = compilePattern(pattern);
  if ("matches" in compiled && compiled.matches(text)) return formed;
  return bad(hint === undefined ? `must match ${pattern}` : `must be ${hint}`);
}

function checkForm({ type, min, max }: FormField, text: string): CheckedValue {
  switch (type) {
    case "email":
      return EMAIL.test(text.trim()) ? good(text.trim()) : bad("must be an email address");
    case "phone":
      return PHONE.test(text.trim()) && digitsOf(text).length >= MIN_PHONE_DIGITS
        ? good(text.trim())
        : bad("must be a phone number");
    case "url":
      return /^https?:\/\//i.test(text.trim()) && URL.canParse(text.trim())
        ? good(text.trim())
        : bad("must be an address that begins with http:// or https://");
    case "color":
      return COLOR.test(text) ? good(text.toLowerCase()) : bad("must be a color such as #ff8800");
    case "date":
    case "time":
    case "datetime":
    case "month":
    case "week": {
      const date = readDate(text.trim(), type);
      if (date === undefined) return bad(`must be a ${type} such as ${DATE_EXAMPLES[type]}`);
      if (min !== undefined && date < asValue(min, type)) return bad(`must be ${min} or later`);
      return max !== undefined && date > asValue(max, type) ? bad(`must be ${max} or earlier`) : good(date);
    }
    default:
      return good(text);
  }
}

export function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, "");
}

function good(value: FieldValue): CheckedValue {
  return { ok: true, value };
}

function bad(fault: string): CheckedValue {
  return { ok: false, fault };
}
