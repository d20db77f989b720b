import type { ToolDefinition } from "@cem/core";
import type { Phrase } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { referTo } from "../planning/references.ts";
import { hasType, isNumeric, type Value } from "../planning/value.ts";
import { call, member } from "../program/expression.ts";
import { fillByKind } from "./fill-kinds.ts";
import { fillByName, takesText } from "./fill-named.ts";
import { createFilling, type Filling, type Name } from "./filling.ts";
import type { Parameter, Role } from "./parameters.ts";

/** Roles that accept a capitalized name; longer texts must be quoted. */
const NAMED: ReadonlySet<Role> = new Set(["name", "place", "person", "identifier"]);
const PLACE_BEFORE = /^(?:in|for|at|near|of)$/u;
const PLACE_WORD = /^(?:city|cities|town|place|places|location|locations)$/u;
const JOINT = /^(?:,|and|or|&)$/u;
const SAYING = /^(?:saying|says|reading|text)$/u;

/** Whether a parameter takes an IANA time zone name: `Europe/Berlin`. */
function takesZone({ words, schema }: Parameter): boolean {
  return words.join("") === "timezone" && /\biana\b|\b[A-Z]\w+\/[A-Z]\w+/iu.test(schema.description ?? "");
}

function zoneOf(place: string): string | undefined {
  const ending = `/${place.replaceAll(" ", "_")}`;
  return Intl.supportedValuesOf("timeZone").find((zone) => zone.endsWith(ending));
}

function fillPlaces(
  filling: Filling,
  parameter: Parameter,
  valueOf: (place: string) => string | undefined = (place) => place,
): void {
  const quoted = filling.places(({ kind }) => kind === "quote");
  const names = filling.names().filter(({ text }) => !/\d/u.test(text));
  const parts = [...names, ...quoted.map((at) => ({ from: at, to: at + 1 }))];
  parts.sort((a, b) => a.from - b.from);
  if (!isJoined(filling, parts)) return;
  const isLed = names.some(({ from }) => PLACE_BEFORE.test(filling.before(from)));
  if (!parameter.isRequired && !isLed) return;
  const texts = [...names.map(({ text }) => text), ...quoted.map((at) => filling.text(at))];
  const values = texts.map(valueOf).filter((value) => value !== undefined);
  if (values.length < texts.length || !filling.setAll(parameter, values)) return;
  for (const { from, to } of names) filling.take(from, to);
  for (const at of quoted) filling.take(at);
  for (const at of filling.places(({ lower }) => PLACE_WORD.test(lower))) filling.take(at);
}

/** Quoted texts, for the only parameter that accepts one; required ones come first. */
function fillQuotes(filling: Filling): void {
  const quotes = filling.places(({ kind }) => kind === "quote");
  const open = filling.open.filter(takesText);
  const required = open.filter(({ isRequired }) => isRequired);
  const [only, other] = required.length > 0 ? required : open;
  const [first = -1] = quotes;
  const parts = quotes.map((at) => ({ from: at, to: at + 1 }));
  if (only === undefined || other !== undefined) return;
  if (!isJoined(filling, parts) || !filling.setTexts(only, quotes)) return;
  if (SAYING.test(filling.lower(first - 1))) filling.take(first - 1);
}

/** A capitalized name, for the only required parameter that accepts one: `Greet Ada`. */
function fillNames(filling: Filling): void {
  const names = filling.names();
  const [only, other] = filling.missing.filter(takesText);
  if (only === undefined || other !== undefined || !takesName(only) || !isJoined(filling, names)) return;
  const texts = names.map(({ text }) => text);
  if (!filling.setAll(only, texts)) return;
  for (const { from, to } of names) filling.take(from, to);
}

function isJoined(filling: Filling, parts: readonly Pick<Name, "from" | "to">[]): boolean {
  return parts.every(({ to }, index) => {
    const next = parts[index + 1];
    return next === undefined || filling.tokens.slice(to, next.from).every(({ lower }) => JOINT.test(lower));
  });
}

function takesName(parameter: Parameter): boolean {
  const { role, schema, words } = parameter;
  if (takesZone(parameter)) return false;
  const isQuery = words.some((word) => /^(?:query|q|search|keywords?|term|name)$/u.test(word));
  return isQuery || NAMED.has(role) || (hasType(schema, "array") && role === "text");
}

const REFERENCES =
  "first result,second result,last result,result,results,it,them,that,this,sum,product,total,average";
/** Parameters that accept any text, rather than a formal language. */
const TEXT = /\b(?:text|message|contents?|body|comment|note|input|string|data|markdown|html|title|value)\b/u;

/** Fills a tool's parameters from a step: named values first, then values by their kind, then texts and earlier results. */
export function fillArguments(tool: ToolDefinition, phrase: Phrase, plan: Plan): Filling {
  const filling = createFilling(tool, phrase, plan);
  fillByName(filling);
  fillByKind(filling);
  for (const parameter of filling.open) if (parameter.role === "place") fillPlaces(filling, parameter);
  const [zone, other] = filling.missing;
  if (zone !== undefined && other === undefined && takesZone(zone)) fillPlaces(filling, zone, zoneOf);
  fillQuotes(filling);
  fillNames(filling);
  fillReference(filling);
  return filling;
}

/** Earlier results that a step refers to, for the remaining required parameter: `double the result`, `post it`. */
function fillReference(filling: Filling): void {
  const [parameter, other] = filling.missing;
  if (parameter === undefined || other !== undefined) return;
  for (const words of REFERENCES.split(",")) {
    const found = filling.findWords(words.split(" "));
    const value = found === undefined ? undefined : referTo(words, filling.plan);
    if (found === undefined || value === undefined || !setReference(filling, parameter, value)) continue;
    filling.take(found.from, found.to);
    return;
  }
}

function setReference(filling: Filling, parameter: Parameter, value: Value): boolean {
  const { expression, schema } = value;
  const key = parameter.role === "email" ? "email" : parameter.name;
  const isText = hasType(schema, "string") && !hasType(schema, "object", "array");
  if (schema.properties?.[key] !== undefined) {
    filling.args.set(parameter.name, member(expression, key));
  } else if (parameter.role === "number") {
    filling.args.set(parameter.name, isNumeric(schema) ? expression : call("numberOf", expression));
  } else if (takesText(parameter) && TEXT.test(parameter.words.join(" "))) {
    const converted = isNumeric(schema) ? call("String", expression) : call("toText", expression);
    filling.args.set(parameter.name, isText ? expression : converted);
  } else return false;
  filling.consumed.push(value);
  return true;
}
