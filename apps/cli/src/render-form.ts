import type { Form, FormField, FormResult } from "@cem/forms";
import { renderPairs, renderRow } from "./render-rows.ts";
import { oneLine } from "./safe-text.ts";
import { counted } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

const INDENT = "  ";

/** Renders what a form asks for and what it fills. */
export function renderForm({ name, description = "", fields, target }: Form, style: Style): string[] {
  const where =
    target === undefined
      ? "nothing"
      : "url" in target
        ? target.url
        : "tool" in target
          ? target.tool
          : target.output;
  return [
    "",
    ...renderRow("form", oneLine(`${name}  ${description}`), style),
    ...renderRow("fills", where, style),
    "",
    ...renderPairs(
      fields.map((field) => [field.name, oneLine(about(field))]),
      INDENT,
      style,
    ),
  ];
}

/** Renders what filling a form came to. */
export function renderFormResult(result: FormResult, done: string, style: Style): string[] {
  const { status, values, missing, problems, screenshots, output, submitted } = result;
  const shown = Object.entries(values).map(
    ([name, value]) =>
      [name, oneLine(typeof value === "object" ? JSON.stringify(value) : String(value))] as const,
  );
  const wrong = [
    ...problems.map(({ field = "", message }) => [field, message] as const),
    ...missing.map(
      ({ field, reason }) => [field, reason === undefined ? "is missing" : `is missing: ${reason}`] as const,
    ),
  ];
  return [
    "",
    ...renderPairs(shown, INDENT, style),
    ...(wrong.length === 0 ? [] : ["", ...renderPairs(wrong, INDENT, style).map(style.colors.red)]),
    "",
    ...screenshots.flatMap((file) => renderRow("picture", file, style)),
    ...(output === undefined ? [] : renderRow("written", output, style)),
    ...renderRow(status === "filled" ? done : status, summary(result, submitted), style),
  ];
}

function summary({ values, missing, problems }: FormResult, submitted: boolean): string {
  const parts = [
    counted(Object.keys(values).length, "value"),
    ...(missing.length > 0 ? [`${missing.length} missing`] : []),
    ...(problems.length > 0 ? [counted(problems.length, "problem")] : []),
    ...(submitted ? ["sent"] : []),
  ];
  return parts.join(", ");
}

function about({ type, label, required, pii, options, when }: FormField): string {
  const parts = [
    type,
    ...(required ? ["required"] : []),
    ...(pii === undefined ? [] : [`personal (${pii})`]),
    ...(options === undefined ? [] : [`one of ${options.map(({ value }) => value).join(", ")}`]),
    ...(when === undefined ? [] : ["depends on other fields"]),
  ];
  return `${label === undefined ? "" : `${label}: `}${parts.join(", ")}`;
}
