import { DefinitionProblems, findCircle } from "@cem/config/yaml";
import type { ContentProblem as DefinitionProblem } from "@cem/config/yaml";
import type { JsonObject } from "@cem/core";
import { placeArgument } from "./arguments.ts";
import { asValue, faultOfFormat, readDate } from "./dates.ts";
import { checkValue, compilePattern, fieldsOf } from "./field-values.ts";
import { formSchema } from "./form-schema.ts";
import type { Form, FormField } from "./form-schema.ts";

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

const TEXTS: ReadonlySet<string> = new Set(["text", "textarea", "password", "email", "phone", "url"]);
const NUMBERS: ReadonlySet<string> = new Set(["number", "integer"]);
const DATES: ReadonlySet<string> = new Set(["date", "time", "datetime", "month", "week"]);
const CHOICES: ReadonlySet<string> = new Set(["select", "multiselect", "radio"]);

/** Finds faults of a form that matches the schema. */
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
    for (const name of field.when === undefined ? [] : fieldsOf(field.when)) {
      if (!names.has(name))
        own.push({ path: [...path, "when"], message: `asks for "${name}", which is no field of this form` });
    }
    return own;
  });
  const needs = new Map(
    form.fields.map(({ name, when }) => [name, when === undefined ? [] : fieldsOf(when)]),
  );
  const circle = findCircle(needs);
  if (circle !== undefined)
    faults.push({ path: ["fields"], message: `depend on each other in a circle: ${circle.join(" → ")}` });
  for (const [index, source] of form.sources.entries()) {
    const wanted = Object.values(source.arguments).flatMap((argument) => referenceIn(argument) ?? []);
    for (const name of [...wanted, ...Object.keys(source.values)]) {
      if (!names.has(name))
        faults.push({ path: ["sources", index], message: `names "${name}", which is no field of this form` });
    }
  }
  return faults;
}

/** The field whose value an argument stands for. */
export function referenceIn(argument: unknown): string | undefined {
  if (typeof argument !== "object" || argument === null || Array.isArray(argument)) return undefined;
  const { field, ...rest } = argument as { field?: unknown };
  return typeof field === "string" && Object.keys(rest).length === 0 ? field : undefined;
}

function faultsOfField(field: FormField): Fault[] {
  const { type, pattern, options, min, max } = field;
  const faults: Fault[] = [];
  const only = (key: keyof FormField, types: ReadonlySet<string>): void => {
    if (field[key] === undefined || types.has(type)) return;
    const message = `is not for a field of type ${type}, but for ${[...types].join(", ")}`;
    faults.push({ path: [key], message });
  };
  only("pattern", TEXTS);
  only("min_length", TEXTS);
  only("max_length", TEXTS);
  only("min_items", new Set(["multiselect", "file"]));
  only("max_items", new Set(["multiselect", "file"]));
  only("options", CHOICES);
  only("accept", new Set(["file"]));
  only("max_bytes", new Set(["file"]));
  only("format", DATES);
  only("min", new Set([...NUMBERS, ...DATES]));
  only("max", new Set([...NUMBERS, ...DATES]));
  if (CHOICES.has(type) && options === undefined)
    faults.push({ path: ["type"], message: `is ${type}, which needs options` });
  const values = options?.map(({ value }) => value) ?? [];
  const twice = values.find((value, index) => values.indexOf(value) < index);
  if (twice !== undefined)
    faults.push({ path: ["options"], message: `have ${JSON.stringify(twice.slice(0, 60))} twice` });
  if (pattern !== undefined) {
    const compiled = compilePattern(pattern);
    if ("fault" in compiled) faults.push({ path: ["pattern"], message: compiled.fault });
  }
  const unknown = DATES.has(type) ? faultOfFormat(type, field.format ?? "") : undefined;
  if (unknown !== undefined) faults.push({ path: ["format"], message: unknown });
  for (const key of ["min", "max"] as const) {
    const bound = field[key];
    if (bound === undefined || (!NUMBERS.has(type) && !DATES.has(type))) continue;
    const isFine = NUMBERS.has(type)
      ? typeof bound === "number"
      : readDate(String(bound), type) !== undefined;
    if (!isFine) faults.push({ path: [key], message: `must be a ${NUMBERS.has(type) ? "number" : type}` });
  }
  const isAbove = (one: string | number, other: string | number): boolean =>
    DATES.has(type) ? asValue(one, type) > asValue(other, type) : one > other;
  if (min !== undefined && max !== undefined && isAbove(min, max))
    faults.push({ path: ["min"], message: "is above max" });
  for (const size of ["length", "items"] as const) {
    if ((field[`min_${size}`] ?? 0) > (field[`max_${size}`] ?? Infinity))
      faults.push({ path: [`min_${size}`], message: `is above max_${size}` });
  }
  if (faults.length > 0 || field.default === undefined) return faults;
  const checked = checkValue(field, field.default);
  return checked.ok ? [] : [{ path: ["default"], message: checked.fault }];
}
