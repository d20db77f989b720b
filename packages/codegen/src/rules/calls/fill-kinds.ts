import type { JsonSchema } from "@cem/core";
import { isStopWord, splitWords } from "@cem/core/text";
import type * as Chrono from "chrono-node/en";
import type { Token, TokenKind } from "../language/lexer.ts";
import { hasType } from "../planning/value.ts";
import { enumValue, fits, valueFor } from "./fill-named.ts";
import type { Filling } from "./filling.ts";
import { enumOf, type Parameter, type Role } from "./parameters.ts";

const MAX_DATE_TEXT_CHARACTERS = 1_000;

/** Cheap test before a text is searched for dates. */
const HINT =
  /\b(?:to(?:day|morrow|night)|yesterday|now|noon|midnight|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)\b|january|february|march|april|june|july|august|september|october|november|december|weeks?|months?|years?|days?|hours?|minutes?|morning|evening|afternoon|ago)\b|\d[:/.-]\d|\d\s?(?:am|pm)\b/iu;

let chrono: typeof Chrono | undefined;

/** Loads the date parser if a task may contain a date, since loading takes longer than most tasks. */
export async function prepareDates(task: string): Promise<void> {
  if (HINT.test(task)) chrono ??= await import("chrono-node/en");
}

/** Finds dates such as `2024-05-01` or `tomorrow at 3pm`. In ISO 8601, with a time if the text or the schema has one. */
function findDates(text: string, schema: JsonSchema, now: Date) {
  const parsed = chrono?.parse(text.slice(0, MAX_DATE_TEXT_CHARACTERS), now, { forwardDate: true }) ?? [];
  return parsed
    .filter((found) => !/^\d+$/u.test(found.text))
    .map(({ start, index, text: { length } }) => {
      const pad = (part: "month" | "day" | "hour" | "minute" | "second"): string =>
        String(start.get(part) ?? 0).padStart(2, "0");
      const day = `${String(start.get("year") ?? 0).padStart(4, "0")}-${pad("month")}-${pad("day")}`;
      const hasTime = schema.format !== "date" && (schema.format === "date-time" || start.isCertain("hour"));
      const value = hasTime ? `${day}T${pad("hour")}:${pad("minute")}:${pad("second")}` : day;
      return { value, start: index, end: index + length };
    });
}

const KINDS: Partial<Record<Role, readonly TokenKind[]>> = {
  url: ["url"],
  email: ["email"],
  person: ["email", "tag"],
  channel: ["tag"],
  list: ["json"],
  object: ["json"],
};
const SLUG = /^([\w.-]+)\/([\w.-]+)$/u;
const CODE = /^(?=.*[A-Z0-9])[A-Z0-9]+(?:[-_.][A-Z0-9]+)*$|\d/u;
const TARGET = /^(?:to|target|destination|dst|new)$/u;
const SOURCE = /^(?:from|source|src|origin|old|base)$/u;
const FOLDER = /\b(?:repo|repository|directory|folder|dir|root)\b/u;

/** Fills parameters with values of a recognizable kind: paths, addresses, dates, numbers, enum values. */
export function fillByKind(filling: Filling): void {
  fillSlug(filling);
  for (const parameter of filling.open) {
    if (filling.args.has(parameter.name)) continue;
    if (parameter.role === "enum") fillEnum(filling, parameter);
    else if (parameter.role === "date") fillDate(filling, parameter);
    else if (parameter.role === "identifier") fillCodes(filling, parameter);
    else if (parameter.role === "path" || parameter.words.includes("path")) fillPaths(filling, parameter);
    else fillTokens(filling, parameter, KINDS[parameter.role] ?? []);
  }
  fillNumber(filling);
}

/** Whether the word before a token assigns it to another parameter: `from USD to EUR`. */
function isLedAway(filling: Filling, at: number, { words }: Parameter): boolean {
  const before = filling.before(at);
  if (words.some((word) => TARGET.test(word))) return !/^(?:to|into|in)$/u.test(before);
  return words.some((word) => SOURCE.test(word)) && /^(?:to|into)$/u.test(before);
}

function fillTokens(filling: Filling, parameter: Parameter, kinds: readonly TokenKind[]): void {
  const places = filling.places(
    (token, at) => kinds.includes(token.kind) && !isLedAway(filling, at, parameter),
  );
  const values = places.map((at) => valueFor(parameter, filling.tokens[at] as Token));
  const known = values.filter((value) => value !== undefined);
  if (known.length !== places.length || !filling.setAll(parameter, known)) return;
  for (const at of places) filling.take(at);
}

function fillSlug(filling: Filling): void {
  const repository = filling.open.find(({ role, words }) => role === "repository" && !words.includes("path"));
  const [at] = filling.places(({ kind, text }) => kind === "path" && SLUG.test(text));
  const [, owner, name] = SLUG.exec(at === undefined ? "" : filling.text(at)) ?? [];
  if (at === undefined || owner === undefined || name === undefined || repository === undefined) return;
  const ofOwner = filling.open.find(({ role }) => role === "owner");
  if (ofOwner !== undefined) filling.set(ofOwner, owner);
  filling.set(repository, ofOwner === undefined ? `${owner}/${name}` : name);
  filling.take(at);
}

/** Folders go to parameters for folders, files to those for files. Of two paths, the one after "to" is the target. */
function fillPaths(filling: Filling, parameter: Parameter): void {
  const isFile = (at: number): boolean => /\.[A-Za-z]\w{0,4}$/u.test(filling.text(at));
  const wantsFolder = FOLDER.test(parameter.words.join(" "));
  const isAlone = !filling.missing.some((one) => one !== parameter && one.role === "path");
  const isDirected = parameter.words.some((word) => TARGET.test(word) || SOURCE.test(word));
  const places = filling.places(({ kind }, at) => {
    const isPath = kind === "path" || (kind === "quote" && /^[^\s./]*[./]\S*$/u.test(filling.text(at)));
    if (!isPath || isLedAway(filling, at, parameter)) return false;
    return isAlone || isDirected || wantsFolder !== isFile(at);
  });
  const folders = places.filter((at) => !isFile(at));
  const chosen = wantsFolder && folders.length > 0 ? folders : places;
  const isMany = hasType(parameter.schema, "array") || (isAlone && parameter.isRequired && !wantsFolder);
  if (chosen.length === 1 || isMany) filling.setTexts(parameter, chosen);
}

/** Dates in words, but not in quoted texts. */
function fillDate(filling: Filling, parameter: Parameter): void {
  const { source } = filling.phrase;
  let text = source;
  for (const [at, { kind, start, end }] of filling.tokens.entries())
    if (kind === "quote" || !filling.isFree(at))
      text = text.slice(0, start) + "·".repeat(end - start) + text.slice(end);
  const [found] = findDates(text, parameter.schema, filling.plan.now());
  const places = filling.places(
    ({ start, end }) => found !== undefined && end > found.start && start < found.end,
  );
  if (found === undefined || places.length === 0) return;
  filling.set(parameter, found.value);
  for (const at of places) filling.take(at);
}

/** One of the enum's values. If there are several, the tool is called once for each. */
function fillEnum(filling: Filling, parameter: Parameter): void {
  const values: (string | number)[] = [];
  for (const value of enumOf(parameter.schema)) {
    const words = splitWords(String(value));
    const found = words.length > 1 ? filling.findWords(words) : undefined;
    if (found === undefined) continue;
    values.push(value);
    filling.take(found.from, found.to);
  }
  for (const at of filling.places(
    ({ kind, lower }) => kind === "quote" || (kind === "word" && !isStopWord(lower)),
  )) {
    const value = enumValue(parameter, filling.tokens[at] as Token);
    if (value === undefined || values.includes(value)) continue;
    values.push(value);
    filling.take(at);
  }
  filling.setAll(parameter, values);
}

/** Codes such as `AAPL` or `A-17`, and numbers if an identifier is text. */
function fillCodes(filling: Filling, parameter: Parameter): void {
  const places = filling.places(({ kind, text }, at) => {
    const isCode = kind === "word" && text.length > 1 && CODE.test(text);
    const isZone = kind === "path" && parameter.words.includes("timezone");
    return at > 0 && (isCode || isZone || kind === "number") && !isLedAway(filling, at, parameter);
  });
  if (parameter.isRequired) filling.setTexts(parameter, places);
}

/** The only number of a step, for the only required parameter that accepts one. */
function fillNumber(filling: Filling): void {
  const [at, second] = filling.places(({ kind, value }) => kind === "number" && typeof value === "number");
  const [parameter, other] = filling.missing.filter(({ role }) => role === "number");
  const value = at === undefined ? undefined : filling.tokens[at]?.value;
  if (at === undefined || second !== undefined || parameter === undefined || other !== undefined) return;
  if (typeof value !== "number" || !fits(parameter, value)) return;
  const isNegative = filling.isFree(at - 1) && filling.lower(at - 1) === "-";
  filling.set(parameter, isNegative ? -value : value);
  filling.take(isNegative ? at - 1 : at, at + 1);
}
