import { isObject, referredTo, type JsonObject, type JsonSchema, type JsonValue } from "@cem/core";
import { joinPath } from "./violation.ts";

/** Longer ones stay texts: converting them takes long. */
const DIGITS = /^-?[1-9]\d{15,39}$/;
/** A number with such an ending is exact: it is not an id that lost its last digits. */
const ROUND = /0{6}$|e/;
/** Maximum number of parts of schemas read for one call. Texts in places that are not reached stay texts. */
const MAX_PARTS = 200_000;
/** A number times this is the one before it, and divided by this the one after it. */
const STEP = 1 - Number.EPSILON / 2;

/**
 * Returns the replacement of a text of digits where the schema requires a number, or of a number that may have lost digits.
 *
 * @param near - The number closest to a text that is on the same side of all limits of the schema.
 */
type Replace = (found: string | number, path: string, near: number) => JsonValue;

/** The subschemas for a place in arguments, and the values to which a number is compared. A text stays one without. */
interface Place {
  forms: readonly JsonSchema[];
  limits: ReadonlySet<unknown> | undefined;
  inside: Map<string, Place>;
}

/** An object or list in arguments. Its place is determined only if it holds digits: arguments may have many values. */
interface Holder {
  outer: Holder | undefined;
  name: string | number;
  place?: Place;
}

/**
 * Finds long integers in arguments: texts of more digits than a number can represent, where the schema requires one, and
 * numbers that may have lost digits.
 *
 * @returns the arguments with the result of `replace` for each; the same object if there is none.
 */
export function replaceLongNumbers(args: JsonObject, schema: JsonSchema, replace: Replace): JsonObject {
  const placeIn = createPlaces(schema);
  const visit = (value: JsonValue, outer: Holder | undefined, name: string | number): JsonValue => {
    if (typeof value === "number")
      return isInexact(value) ? replace(value, pathOf(outer, name), value) : value;
    if (typeof value === "string") {
      const isLong = outer !== undefined && DIGITS.test(value) && !Number.isSafeInteger(Number(value));
      const limits = isLong ? placeIn(outer, name).limits : undefined;
      const near = limits && numberNear(value, limits);
      return near === undefined ? value : replace(value, pathOf(outer, name), near);
    }
    if (typeof value !== "object" || value === null) return value;
    const holder: Holder = { outer, name };
    if (Array.isArray(value)) {
      const items = value.map((one, index) => visit(one, holder, index));
      return items.every((one, index) => one === value[index]) ? value : items;
    }
    const members = Object.entries(value).map(([key, one]) => [key, visit(one, holder, key)] as const);
    return members.every(([key, one]) => one === value[key]) ? value : Object.fromEntries(members);
  };
  return visit(args, undefined, "") as JsonObject;
}

function pathOf(outer: Holder | undefined, name: string | number): string {
  return outer === undefined ? "" : joinPath(pathOf(outer.outer, outer.name), `${name}`, "arguments");
}

function isInexact(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && !ROUND.test(`${value}`);
}

function numberNear(digits: string, limits: ReadonlySet<unknown>): number | undefined {
  const nearest = Number(digits);
  const [exact, rounded] = [BigInt(digits), BigInt(nearest)];
  if (exact === rounded || !limits.has(nearest)) return nearest;
  const other = exact > rounded === nearest > 0 ? nearest / STEP : nearest * STEP;
  return limits.has(other) ? undefined : other;
}

/** Returns a function that finds the place of a value, in bounded time: schemas and arguments are both untrusted. */
function createPlaces(document: JsonSchema): (outer: Holder, name: string | number) => Place {
  let left = MAX_PARTS;
  const placeOf = (parts: readonly unknown[]): Place => {
    left -= parts.length;
    const forms = new Set(parts.filter((one) => isObject(one)));
    for (const form of forms) {
      if (left <= 0) break;
      const { $ref, anyOf, oneOf, allOf, not, if: test, then, else: other } = form;
      const reference = typeof $ref === "string" ? $ref : "";
      const more = [referredTo(document, reference), anyOf, oneOf, allOf, not, test, then, other].flat();
      left -= more.length + reference.length;
      for (const part of more) if (isObject(part)) forms.add(part);
    }
    const limits = left > 0 ? limitsOf([...forms]) : undefined;
    left -= limits?.size ?? 0;
    return { forms: left > 0 ? [...forms] : [], limits, inside: new Map() };
  };
  const placeIn = (outer: Holder, name: string | number): Place => {
    outer.place ??= outer.outer === undefined ? placeOf([document]) : placeIn(outer.outer, outer.name);
    const { forms, inside } = outer.place;
    const key = typeof name === "number" ? "[]" : `.${name}`;
    const known = inside.get(key);
    if (known !== undefined) return known;
    // All items have one place, which has the subschemas of each; so have all names that are no property.
    const isOther = left > 0 && forms.every(({ properties }) => properties?.[name] === undefined);
    left -= forms.length;
    const shared = isOther && typeof name === "string" ? "*" : key;
    const place =
      inside.get(shared) ?? placeOf(left > 0 ? forms.flatMap((form) => partsFor(form, name)) : []);
    inside.set(shared, place).set(key, place);
    return place;
  };
  return placeIn;
}

/** The subschemas of an item or a member. Any pattern may match a name. */
function partsFor(form: JsonSchema, name: string | number): unknown[] {
  const { items, prefixItems, additionalItems, properties, patternProperties, additionalProperties } = form;
  if (typeof name === "number") return [items, prefixItems, additionalItems].flat();
  return [properties?.[name] ?? additionalProperties, ...Object.values(patternProperties ?? {})];
}

/** The limits of subschemas that require a number; `undefined` where they do not, or where rounding decides. */
function limitsOf(forms: readonly JsonSchema[]): ReadonlySet<unknown> | undefined {
  const types = new Set(forms.flatMap(({ type = [] }) => type));
  if (types.has("string") || !(types.has("integer") || types.has("number"))) return undefined;
  if (forms.some(({ multipleOf = 1 }) => multipleOf !== 1)) return undefined;
  return new Set(
    forms.flatMap(({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, const: only, enum: choices }) =>
      [minimum, maximum, exclusiveMinimum, exclusiveMaximum, only, choices].flat(),
    ),
  );
}
