import { DefinitionProblems, findCycle } from "@cem/config/definitions";
import type { ContentProblem as DefinitionProblem } from "@cem/config/definitions";
import type { JsonObject } from "@cem/core";
import { placeArgument } from "./arguments.ts";
import { asValue, faultOfFormat, readDate } from "./dates.ts";
import { checkValue, compilePattern, fieldsOf } from "./field-values.ts";
import { CHOICES, DATES, formSchema, NUMBERS, TEXTS } from "./form-schema.ts";
import type { FieldType, Form, FormField } from "./form-schema.ts";

/** A problem of a definition. */
export type { DefinitionProblem };

/** Options of {@link parseForm}. */
export interface ParseFormOptions {
  /** The name of the file, for messages. */
  file?: string | undefined;
}

/**
 * Parses a form from YAML or JSON.
 *
 * @throws CemError `FORM_INVALID`, with each problem's line in its message and in `details.problems`.
 */
export function parseForm(text: string, { file = "form" }: ParseFormOptions = {}): Form {
  const problems = new DefinitionProblems("FORM_INVALID", file);
  return checkForm(problems.read(text), problems);
}

/**
 * Checks a form that a program created.
 *
 * @throws CemError `FORM_INVALID`
 */
export function defineForm(definition: unknown): Form {
  return checkForm(definition, new DefinitionProblems("FORM_INVALID", "form"));
}

function checkForm(definition: unknown, problems: DefinitionProblems): Form {
  const form = problems.check(formSchema, definition);
  for (const { path, message } of form === undefined ? [] : findFaults(form))
    problems.add(path, `${message}.`);
  problems.throwIfAny();
  return form as Form;
}

interface Fault {
  path: PropertyKey[];
  message: string;
}

function findFaults(form: Form): Fault[] {
  const names = new Set(form.fields.map(({ name }) => name));
  const seen = new Set<string>();
  const args: JsonObject = {};
  const faults = form.fields.flatMap((field, index): Fault[] => {
    const path = ["fields", index];
    const own = faultsOfField(field).map((fault) => ({ ...fault, path: [...path, ...fault.path] }));
    if (seen.has(field.name))
      own.push({ path: [...path, "name"], message: `"${field.name}" is taken by a field above` });
    else if (form.target?.type === "tool" && field.when === undefined && !placeArgument(args, field, true))
      own.push({ path, message: "fills the same argument of the tool as a field above" });
    seen.add(field.name);
    for (const name of fieldsOf(field.when)) {
      if (!names.has(name))
        own.push({
          path: [...path, "when"],
          message: `asks for "${name}", which is not a field of this form`,
        });
    }
    return own;
  });
  const cycle = findCycle(new Map(form.fields.map(({ name, when }) => [name, fieldsOf(when)])));
  if (cycle !== undefined)
    faults.push({ path: ["fields"], message: `depend on each other in a circle: ${cycle.join(" → ")}` });
  for (const [index, source] of form.sources.entries()) {
    const wanted = Object.values(source.arguments).flatMap((argument) => referenceIn(argument) ?? []);
    for (const name of [...wanted, ...Object.keys(source.values)]) {
      if (!names.has(name))
        faults.push({
          path: ["sources", index],
          message: `names "${name}", which is not a field of this form`,
        });
    }
  }
  return faults;
}

export function referenceIn(argument: unknown): string | undefined {
  if (typeof argument !== "object" || argument === null || Array.isArray(argument)) return undefined;
  const { field, ...rest } = argument as { field?: unknown };
  return typeof field === "string" && Object.keys(rest).length === 0 ? field : undefined;
}

function faultsOfField(field: FormField): Fault[] {
  const { type, pattern, options, min, max } = field;
  const faults: Fault[] = [];
  const add = (key: string, message: string): void => void faults.push({ path: [key], message });
  const is = (types: readonly FieldType[]): boolean => types.includes(type);
  const only = (types: readonly FieldType[], ...keys: (keyof FormField)[]): void => {
    for (const key of is(types) ? [] : keys.filter((one) => field[one] !== undefined))
      add(key, `is not for a field of type ${type}, but for ${types.join(", ")}`);
  };
  only(TEXTS, "pattern", "min_length", "max_length");
  only(["multiselect", "file"], "min_items", "max_items");
  only(CHOICES, "options");
  only(["file"], "accept", "max_bytes");
  only(DATES, "format");
  only([...NUMBERS, ...DATES], "min", "max");
  if (is(CHOICES) && options === undefined) add("type", `is ${type}, which needs options`);
  const values = options?.map(({ value }) => value) ?? [];
  const twice = values.find((value, index) => values.indexOf(value) < index);
  if (twice !== undefined) add("options", `have ${JSON.stringify(twice.slice(0, 60))} twice`);
  const compiled = pattern === undefined ? undefined : compilePattern(pattern);
  if (compiled !== undefined && "fault" in compiled) add("pattern", compiled.fault);
  const unknown = is(DATES) ? faultOfFormat(type, field.format ?? "") : undefined;
  if (unknown !== undefined) add("format", unknown);
  for (const key of ["min", "max"] as const) {
    const bound = field[key];
    if (bound === undefined || (!is(NUMBERS) && !is(DATES))) continue;
    const isFine = is(NUMBERS) ? typeof bound === "number" : readDate(String(bound), type) !== undefined;
    if (!isFine) add(key, `must be a ${is(NUMBERS) ? "number" : type}`);
  }
  const isAbove = (one: string | number, other: string | number): boolean =>
    is(DATES) ? asValue(one, type) > asValue(other, type) : one > other;
  if (min !== undefined && max !== undefined && isAbove(min, max)) add("min", "is above max");
  for (const size of ["length", "items"] as const) {
    if ((field[`min_${size}`] ?? 0) > (field[`max_${size}`] ?? Infinity))
      add(`min_${size}`, `is above max_${size}`);
  }
  if (faults.length > 0 || field.default === undefined) return faults;
  const checked = checkValue(field, field.default);
  return checked.ok ? [] : [{ path: ["default"], message: checked.fault }];
}
