import { getPath, type Layer, type SettingOrigin, placeKey, problemAt } from "./layer.ts";
import { nearest } from "@cem/text";
import { type ConfigProblem, shown } from "./problem.ts";
import { configSchema } from "./schema.ts";
import { allowedOf, holdsSecret, outlineOf, schemaFor, unwrap } from "./schema-shape.ts";
import { z } from "zod";

type Issue = z.core.$ZodIssue;

const UNKNOWN_PLACE: SettingOrigin = { path: "", origin: { from: "argument", label: "argument" } };

/** All that is wrong with the values of one layer. */
export function check(layer: Layer): ConfigProblem[] {
  const parsed = configSchema.safeParse(layer.values);
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) => flatten(issue)).map((issue) => toProblem(issue, layer));
}

/** Of a union, the complaints of the option that the value was probably meant for. */
function flatten(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const meant = issue.errors.find(
    (option) => !option.some(({ path, code }) => path.length === 0 && code === "invalid_type"),
  );
  if (meant === undefined) return [issue];
  return meant.flatMap((inner) => flatten({ ...inner, path: [...issue.path, ...inner.path] }));
}

function toProblem(issue: Issue, layer: Layer): ConfigProblem {
  const value = getPath(layer.values, issue.path);
  const place = placeOf(issue.path, layer);
  if (issue.code === "custom" && issue.message !== "Invalid input")
    return problemAt(place, `${issue.message}.`);
  const schema = schemaAt(issue.path, layer.values);
  if (value === undefined) return problemAt(place, `is missing. It takes ${allowedOf(schema)}.`);
  const allowed = allowedOf(schema);
  const inner = unwrap(schema);
  const hidden = holdsSecret(schema) || outlineOf(inner) !== "scalar";
  const suggestion =
    inner instanceof z.ZodEnum && typeof value === "string"
      ? nearest(value, inner.options.map(String))[0]
      : undefined;
  const hint = suggestion === undefined ? "" : ` Did you mean ${suggestion}?`;
  return problemAt(place, `is ${hidden ? kindOf(value) : shown(value)}. Allowed: ${allowed}.${hint}`, {
    allowed,
    ...(hidden ? {} : { value: shown(value) }),
    ...(suggestion === undefined ? {} : { suggestion }),
  });
}

/** The place of the value, or of the nearest thing around it that has one. */
function placeOf(path: readonly PropertyKey[], layer: Layer): SettingOrigin {
  for (let length = path.length; length > 0; length -= 1) {
    const place = layer.places.get(placeKey(path.slice(0, length)));
    if (place === undefined) continue;
    const rest = path.slice(length).map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
    return { ...place, path: place.path + rest.join("") };
  }
  return UNKNOWN_PLACE;
}

function schemaAt(path: readonly PropertyKey[], values: unknown): z.ZodType {
  let schema: z.ZodType = configSchema;
  for (const [index, key] of path.entries()) {
    const value = getPath(values, path.slice(0, index));
    const inner = schemaFor(schema, Array.isArray(value) ? "list" : "mapping");
    if (inner instanceof z.ZodObject) schema = inner.shape[String(key)] as z.ZodType;
    else if (inner instanceof z.ZodArray) schema = inner.element as z.ZodType;
    else if (inner instanceof z.ZodRecord) schema = inner.valueType as z.ZodType;
    else return inner;
  }
  return schema;
}

function kindOf(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? (value === "" ? "empty" : "a text") : `a ${typeof value}`;
}
