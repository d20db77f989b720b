import type { FieldValue } from "./conditions.ts";
import { formatDate } from "./dates.ts";
import { digitsOf } from "./field-values.ts";
import type { FormField } from "./form-schema.ts";

/** A value as it is written in a text field of a target. */
export function textOf({ type, format, options = [] }: FormField, value: FieldValue): string {
  if (format !== undefined) return formatDate(String(value), type, format);
  if (Array.isArray(value)) return value.map((item) => labelOfOption(options, item)).join(", ");
  return type === "select" || type === "radio" ? labelOfOption(options, String(value)) : String(value);
}

/** Whether a text that was read back is what was written. A target may write numbers in its own way. */
export function isSameText({ type }: FormField, written: string, read: string): boolean {
  const [one, other] = [written, read].map((text) => text.replaceAll(/\r\n?/g, "\n").trim()) as [
    string,
    string,
  ];
  if (one === other) return true;
  if (type === "phone") return digitsOf(one) === digitsOf(other) && other !== "";
  return (type === "number" || type === "integer") && other !== "" && Number(one) === Number(other);
}

/** Which of the options that a target offers are meant: by their value, else by their label. */
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

function labelOfOption(options: NonNullable<FormField["options"]>, value: string): string {
  return options.find((option) => option.value === value)?.label ?? value;
}
