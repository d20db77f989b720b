import type { ToolDefinition } from "@cem/core";
import { AGGREGATES, COMPARATIVES, PROPERTY_COLUMNS, SUPERLATIVES } from "@cem/text";
import { type Match, Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import type { Plan } from "../../planning/plan.ts";
import { RANK, type Reading } from "../../planning/reading.ts";
import type { Production } from "../../planning/step.ts";
import { hasType } from "../../planning/value.ts";
import { binary, type Expression, literal, member } from "../../program/expression.ts";
import { declareEach } from "../calls/for-each.ts";
import { readParameters } from "../calls/parameters.ts";
import { resultWords } from "../calls/result-words.ts";
import { changes } from "../calls/verbs.ts";
import { print } from "./collection.ts";
import { numberKey } from "./columns.ts";
import { readVerb } from "./cursor.ts";
import { readNames } from "./names.ts";
import { overColumn } from "./reduce.ts";
import type { AggregateKind } from "./selection.ts";
import { declareMost, wordsFor } from "./superlative.ts";

const CLASSES = {
  how: { ...COMPARATIVES, ...SUPERLATIVES },
  end: SUPERLATIVES,
  more: COMPARATIVES,
  kind: AGGREGATES,
};
/** Longer texts are no question. */
const MAX_TOKENS = 150;
const THING = "(city|place|location|town|one|item)?";
const AMONG =
  "(of|among|amongst|between|out|from|in|for|across|at)? of? (cities|places|locations|towns|following)? (,|:)?";
const pattern = (text: string): Pattern => new Pattern(text, CLASSES);
/** Which of several things has the most or the least of something. */
const MOST = [
  pattern(`(which|what|where|who) ${THING} (is|has|was)? it? {how:@how} ${THING} ${AMONG} {list}`),
  pattern(`(which|what) of {list} (is|has|was) {how:@how} ${THING}`),
  pattern(`(is|was) (it|weather) {how:@more} (in|at) {list}`),
  pattern(`{how:@end} ${THING} ${AMONG} {list}`),
];
const AGGREGATE = pattern(`{kind:@kind} of? {what} ${AMONG} {list}`);
const DIFFERENCE = pattern(`{what} difference (between|of|in) {list}`);
const PAIRS = [
  pattern(
    "((check|tell|say|find) out? (if|whether))? (is|are)? (it|weather)? is? {how:@more} (in|at) {first} than (in|at)? {second}",
  ),
  pattern("((check|tell|say|find) out? (if|whether))? (is|are)? {first} (is|are)? {how:@more} than {second}"),
  pattern("how much {how:@more} (is|are)? it? (in|at)? {first} (is|are)? than (in|at)? {second}"),
];

/** Compares what a tool says about several things that the text names. */
export const readComparison: Production = ({ span }, plan) => {
  if (span.length > MAX_TOKENS) return undefined;
  const { verb, rest } = readVerb(span);
  for (const part of new Set([span, rest])) {
    const lower = readMost(part, plan) ?? readSummary(part, plan) ?? readPair(part, plan);
    if (lower !== undefined) return comparison(plan, lower, verb === "print");
  }
  return undefined;
};

function comparison(plan: Plan, lower: () => void, isPrinted: boolean): Reading {
  return {
    kind: "comparison",
    rank: RANK.plain + 0.8,
    lower() {
      lower();
      const value = plan.values.at(-1);
      if (isPrinted && value !== undefined) print(plan, value);
    },
  };
}

function readMost(span: Span, plan: Plan): (() => void) | undefined {
  for (const match of MOST.flatMap((one) => [...one.matches(span)])) {
    const [property = "", side = ""] = match.meaning("how").split(" ");
    const source = findSource(PROPERTY_COLUMNS[property] ?? [], plan.tools);
    const names = readNames(match.span("list"));
    if (source === undefined || names === undefined || names.length < 2) continue;
    const words = wordsFor(property, side);
    return () => {
      askEach(plan, source, names);
      declareMost(
        plan,
        [plan.values.at(-1)].filter((value) => value !== undefined),
        source.key,
        side === "high",
        words,
      );
    };
  }
  return undefined;
}

function readSummary(span: Span, plan: Plan): (() => void) | undefined {
  const found: [Match, AggregateKind][] = [
    ...[...DIFFERENCE.matches(span)].map((match): [Match, AggregateKind] => [match, "spread"]),
    ...[...AGGREGATE.matches(span)].map((match): [Match, AggregateKind] => [
      match,
      match.meaning("kind") as AggregateKind,
    ]),
  ];
  for (const [match, kind] of found) {
    const source = findSource([match.text("what")], plan.tools);
    const names = readNames(match.span("list"));
    if (source === undefined || names === undefined || names.length < 2 || kind === "count") continue;
    const words = kind === "spread" ? `${source.key} difference` : `${kind} ${source.key}`;
    return () => {
      const rows = askEach(plan, source, names);
      for (const value of plan.values.slice(-1)) value.consumed = true;
      plan.declare(overColumn(kind, rows, literal(source.key)), { words, schema: { type: "number" } });
    };
  }
  return undefined;
}

/** Asks the tool about each of several things. Gives the answers. */
function askEach(plan: Plan, source: Source, names: readonly string[]): Expression {
  declareEach(plan, source.tool, new Map(), { parameter: source.parameter, values: names });
  return plan.values.at(-1)?.expression ?? literal(null);
}

function readPair(span: Span, plan: Plan): (() => void) | undefined {
  for (const match of PAIRS.flatMap((one) => [...one.matches(span)])) {
    const [property = "", side = ""] = match.meaning("how").split(" ");
    const source = findSource(PROPERTY_COLUMNS[property] ?? [], plan.tools);
    const [first, second] = [match.span("first"), match.span("second")].map((part) => readNames(part));
    if (source === undefined || first?.length !== 1 || second?.length !== 1) continue;
    const isAmount = span.words[0] === "how";
    return () => {
      const [left, right] = [ask(plan, source, first[0] ?? ""), ask(plan, source, second[0] ?? "")];
      const isLow = side === "low";
      const difference = isLow ? binary(right, "-", left) : binary(left, "-", right);
      plan.declare(isAmount ? difference : binary(left, isLow ? "<" : ">", right), {
        words: isAmount
          ? "difference"
          : `is ${Object.keys(COMPARATIVES).find((word) => COMPARATIVES[word] === `${property} ${side}`)}`,
        schema: { type: isAmount ? "number" : "boolean" },
      });
    };
  }
  return undefined;
}

function ask(plan: Plan, { tool, parameter, key }: Source, thing: string): Expression {
  const words = `${thing} ${resultWords(tool)}`;
  const answer = plan.declare(plan.callTool(tool, new Map([[parameter, literal(thing)]])), {
    words,
    schema: tool.outputSchema ?? {},
  });
  answer.consumed = true;
  return member(answer.expression, key);
}

/** A tool that tells a number about one thing. */
interface Source {
  tool: ToolDefinition;
  parameter: string;
  key: string;
}

/** The tool that tells a number of one of these names about one thing, and changes nothing. */
function findSource(names: readonly string[], tools: readonly ToolDefinition[]): Source | undefined {
  for (const tool of tools) {
    const [only, ...more] = readParameters(tool).filter((one) => one.isRequired);
    if (only === undefined || more.length > 0 || !hasType(only.schema, "string") || changes(tool)) continue;
    if (
      !["place", "identifier", "text", "title", "query"].includes(only.role) ||
      !hasType(tool.outputSchema ?? {}, "object")
    )
      continue;
    const key = numberKey(names, tool.outputSchema ?? {});
    if (key !== undefined) return { tool, parameter: only.name, key };
  }
  return undefined;
}
