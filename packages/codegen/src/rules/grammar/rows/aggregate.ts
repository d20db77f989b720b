import { AGGREGATES } from "@cem/text";
import { Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import { useHelper } from "../../program/helpers.ts";
import type { Plan } from "../../planning/plan.ts";
import { findDocumentField, sameWords } from "../../planning/references.ts";
import type { Meaning } from "../../planning/reading.ts";
import { hasType, isNumeric, type StateDocument, type Value } from "../../planning/value.ts";
import { array, binary, call, type Expression, literal } from "../../program/expression.ts";
import { Columns, numberKey } from "./columns.ts";
import { applySelection } from "./lower-rows.ts";
import { overColumn, reduceList } from "./reduce.ts";
import { readRequest } from "./request.ts";
import { RowReader } from "./row-reader.ts";
import type { AggregateKind } from "./selection.ts";
import { sourcesIn } from "./sources.ts";

const CLASSES = { kind: AGGREGATES };
const AGGREGATE = new Pattern("{kind:@kind} (value|number)? (of|from|over|between)? {target}?", CLASSES);
/** Whatever numbers there are. */
const NUMBERS = new Pattern(
  "all? of? (these|those|previous|earlier)? (them|it|these|those|results|numbers|values|answers|elements|list|array) together?",
);
const BOTH = new Pattern(
  "(both|two) of? (them|these|those)? (results|numbers|values|answers)? | them (both|two)",
);
const IN_LIST = new Pattern("all? (of|its)? {what:word}? in {list:name} (array|list|field)");
const LIST = new Pattern("(all | all of | its)? {list:name} (array|list|field)?");
/** What a list of numbers in a file is often called. */
const LISTS = /^(?:results|outputs|scores|totals|amounts|readings|samples|measurements)$/u;
/** Longer texts are no value. */
const MAX_TOKENS = 150;
const NUMBER = { type: "number" };

/** Reads `the sum of all results in the results array`, `the average`, `average age`, where what it is over is known. */
export function readAggregate(span: Span, plan: Plan): Meaning | undefined {
  return readNumbers(span, plan) ?? (span.words.includes("both") ? undefined : overRows(span, plan));
}

/** The same without what is said of columns and conditions. */
export function readNumbers(span: Span, plan: Plan): Meaning | undefined {
  if (span.length > MAX_TOKENS) return undefined;
  for (const match of AGGREGATE.matches(span.trimmed)) {
    const kind = match.meaning("kind") as AggregateKind;
    const target = match.span("target").trimmed;
    if (/^(?:of|from|over|between)$/u.test(target.at(0)?.lower ?? "")) continue;
    const found =
      overLiterals(kind, target) ??
      overFile(kind, target, plan) ??
      overField(kind, target, plan) ??
      overResults(kind, target, plan) ??
      overAsked(kind, target, plan);
    if (found !== undefined) return found;
  }
  return undefined;
}

function meaning(words: string, lower: () => Expression): Meaning {
  return { schema: NUMBER, words, lower };
}

/** `the average of 4, 5 and 9` */
function overLiterals(kind: AggregateKind, target: Span): Meaning | undefined {
  const values = target.list.map((part) => part.literal?.value);
  if (values.length < 2 || !values.every((value) => typeof value === "number")) return undefined;
  return meaning(kind, () => reduceList(kind, array(values.map((value) => literal(value)))));
}

/**
 * `sum the numbers`, right after a JSON file was read of which nothing is known yet; `sum all results` wherever no step gave
 * a number.
 */
function overFile(kind: AggregateKind, target: Span, plan: Plan): Meaning | undefined {
  const named = LIST.match(target)?.text("list").toLowerCase() ?? "";
  const document = untouchedFile(plan) ?? (LISTS.test(named) ? onlySource(plan) : undefined);
  const isWhole =
    (target.isEmpty || NUMBERS.match(target) !== undefined) &&
    !LISTS.test(named) &&
    BOTH.match(target) === undefined;
  if (document === undefined || !(isWhole || LISTS.test(named))) return undefined;
  return meaning(kind, () => {
    document.value.consumed ||= !document.isDirty;
    const { expression } = document.value;
    const list = isWhole ? expression : call(useHelper("fieldOf"), expression, literal(named));
    return reduceList(kind, call(useHelper("numbersOf"), list));
  });
}

function untouchedFile({ document, values }: Plan): StateDocument | undefined {
  if (document === undefined || document.value !== values.at(-1)) return undefined;
  return document.isLoaded && !document.isDirty && document.fields.size === 0 ? document : undefined;
}

/** The JSON file in memory, where no step gave numbers of its own. */
function onlySource({ document, values }: Plan): StateDocument | undefined {
  const isOnly = document?.isLoaded === true && !values.some(({ schema }) => isNumeric(schema));
  return isOnly ? document : undefined;
}

/** A list in the JSON file that is held in memory. */
function overField(kind: AggregateKind, target: Span, plan: Plan): Meaning | undefined {
  const inList = IN_LIST.match(target);
  const what = inList?.text("what") ?? "";
  const isKnownItem = what === "" || /^(?:values|numbers|items|elements|entries|all)$/iu.test(what);
  const named =
    inList === undefined || !(isKnownItem || sameWords(what, inList.text("list")))
      ? LIST.match(target)
      : inList;
  const name = named?.text("list") ?? "";
  const field = name === "" ? undefined : findDocumentField(name, plan);
  if (field?.expression.kind !== "member") return undefined;
  const isList = inList !== undefined || /\b(?:array|list|field)$/u.test(target.lower);
  if (!isList && plan.document?.fields.has(field.expression.key) !== true) return undefined;
  return meaning(kind === "sum" ? "total" : kind, () => reduceList(kind, field.expression));
}

/** `the sum of both results`: numbers that earlier steps gave. */
function overResults(kind: AggregateKind, target: Span, plan: Plan): Meaning | undefined {
  const isBoth = BOTH.match(target) !== undefined;
  if (!isBoth && !target.isEmpty && NUMBERS.match(target) === undefined) return undefined;
  const lists = plan.values.filter(
    (value) => hasType(value.schema, "array") && isNumeric(value.schema.items ?? {}),
  );
  const list = isBoth ? undefined : lists.at(-1);
  const results = plan.values.filter((value) => isNumeric(value.schema));
  const isNewer =
    list !== undefined && plan.values.indexOf(list) > plan.values.indexOf(results.at(-1) as Value);
  if (isNewer) return meaning(kind, () => use(list, (expression) => reduceList(kind, expression)));
  if (results.length < 2 || (isBoth && results.length !== 2)) return undefined;
  if (target.isEmpty && sourcesIn(plan).length > 0) return undefined;
  return meaning(kind, () => {
    for (const value of results) value.consumed = true;
    const items = results.map((value) => value.expression);
    if (kind !== "sum" && kind !== "average") return reduceList(kind, array(items));
    const sum = items.reduce((left, right) => binary(left, "+", right));
    return kind === "sum" ? sum : binary(sum, "/", literal(items.length));
  });
}

function use(value: Value, make: (expression: Expression) => Expression): Expression {
  value.consumed = true;
  return make(value.expression);
}

/** `calculate the difference`: of what the step before asked for. */
function overAsked(kind: AggregateKind, target: Span, plan: Plan): Meaning | undefined {
  const list = plan.values.findLast((value) => hasType(value.schema, "array"));
  const isBare = target.isEmpty || NUMBERS.match(target) !== undefined || BOTH.match(target) !== undefined;
  if (!isBare || kind === "count" || list?.asked === undefined) return undefined;
  const key = numberKey([list.asked], list.schema.items ?? {});
  return key === undefined
    ? undefined
    : meaning(`${kind} ${key}`, () => use(list, (rows) => overColumn(kind, rows, literal(key))));
}

/** `average age`, `total of the prices`, `number of users in Berlin`, over rows that earlier steps gave. */
function overRows(span: Span, plan: Plan): Meaning | undefined {
  for (const source of sourcesIn(plan)) {
    const reader = new RowReader(span, new Columns(source.item, source.words), source.noun);
    if (!readRequest(reader, source.needsNoun === true)) continue;
    const { aggregate, group } = reader.selection;
    if (
      aggregate === undefined ||
      aggregate.kind === "statistics" ||
      group !== undefined ||
      source.group !== undefined ||
      reader.verb !== ""
    )
      continue;
    return meaning(aggregate.kind, () => {
      const made = applySelection(plan, source.open(plan, reader.noun), reader.selection);
      made.consumed = true;
      return made.expression;
    });
  }
  return undefined;
}
