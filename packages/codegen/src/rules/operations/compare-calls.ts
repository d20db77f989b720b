import type { ToolDefinition } from "@cem/core";
import { isStopWord, splitWords } from "@cem/text";
import { splitList } from "../arguments/lists.ts";
import { readParameters } from "../arguments/roles.ts";
import { kindOfTool } from "../matching/verb-classes.ts";
import type { Plan } from "../planning/plan.ts";
import { matchProperty } from "../planning/references.ts";
import { hasType, type Value } from "../planning/value.ts";
import { binary, type Expression, literal, member } from "../program/expression.ts";
import { Phrase } from "../reading/phrase.ts";
import { readAggregate } from "./aggregate.ts";
import { declareEach } from "./for-each.ts";
import type { StepContext } from "./operation.ts";
import { resultWords } from "./result-words.ts";
import { planSuperlative } from "./superlative.ts";

const ASK =
  "(?:(?:please\\s+)?(?:find(?:\\s+out)?|get|give(?:\\s+me)?|show(?:\\s+me)?|tell(?:\\s+me)?|determine|calculate|compute|work\\s+out|print|return|what\\s+is|what['’]s|which\\s+is|who\\s+is)\\s+)?(?:the\\s+)?";
const THING = "(?:\\s+(?:one|city|place|location|town|item))?";
const AMONG =
  "(?:\\s+(?:of|among|between|out\\s+of|from|in|for|across|at))?(?:\\s+(?:the\\s+)?(?:cities|places|locations|following|two|three|these))*\\s*[,:]?\\s+";

/** Questions that take a tool's answer for each of several things. */
const QUESTIONS: readonly [RegExp, "most" | "aggregate" | "spread"][] = [
  [
    new RegExp(
      `^(?:which|what|where)(?:\\s+(?:city|place|location|one|of\\s+these))?(?:\\s+(?:is|has|was))?(?:\\s+(?:it|the))*\\s+(\\p{L}+er|\\p{L}+est)${THING}\\s*[,:]\\s*(.+)$`,
      "iu",
    ),
    "most",
  ],
  [/^(?:is|was)\s+(?:it|the weather)\s+(\p{L}+er)\s+(?:in|at)\s+(.+\s+or\s+.+)$/iu, "most"],
  [
    new RegExp(
      `^(?:which|what)\\s+of\\s+(?<list>.+?)\\s+(?:is|has)\\s+(?:the\\s+)?(?<word>\\p{L}+er|\\p{L}+est)${THING}$`,
      "iu",
    ),
    "most",
  ],
  [new RegExp(`^${ASK}(\\p{L}+est)${THING}${AMONG}(.+)$`, "iu"), "most"],
  [
    new RegExp(
      `^${ASK}((?:average|mean|avg|sum|total|maximum|max|highest|minimum|min|lowest|median)(?:\\s+of)?(?:\\s+the)?\\s+\\p{L}+)${AMONG}(.+)$`,
      "iu",
    ),
    "aggregate",
  ],
  [
    new RegExp(
      `^${ASK}(?:difference\\s+(?:in|of|between)\\s+(?:the\\s+)?)?(\\p{L}+?)s?(?:\\s+difference)?${AMONG}(.+)$`,
      "iu",
    ),
    "spread",
  ],
];

/** `Is it warmer in Lisbon than in Dublin?`, `is Oslo colder than Rome`, `how much warmer is Rome than Oslo`. */
const PAIR =
  /^(?:check (?:if|whether)\s+|tell me (?:if|whether)\s+)?(how\s+much\s+)?(?:(?:is|are)\s+)?(?:(?:it|the weather)\s+(?:is\s+)?)?(?:(?<first>.+?)\s+)?(?<word>\p{L}+er)\s+(?:is\s+(?:it\s+)?)?(?:(?:in|at)\s+)?(?:(?<inner>.+?)\s+)?than\s+(?:in\s+|at\s+)?(?<second>.+)$/iu;
const LOW = /^(?:cold|cool|cheap|young|light|short|slow|low|small|few)/iu;

/** Compares what a tool says about several things that the text names. */
export function planCompareCalls({ step, plan }: StepContext): boolean {
  const text = step.text.replace(/[?.!]+$/u, "").trim();
  if (text.length > 500) return false;
  return planPair(text, plan) || QUESTIONS.some(([pattern, kind]) => planQuestion(pattern, kind, text, plan));
}

function planQuestion(
  pattern: RegExp,
  kind: "most" | "aggregate" | "spread",
  text: string,
  plan: Plan,
): boolean {
  const match = pattern.exec(text);
  const asked = match?.groups?.["word"] ?? match?.[1] ?? "";
  const list = match?.groups?.["list"] ?? match?.[2] ?? "";
  if (match === null || (kind === "spread" && !/\bdifference\b/iu.test(text))) return false;
  const values = readNames(list);
  const word = asked.split(/\s+/u).at(-1) ?? "";
  const found = findSource(word, plan.tools);
  if (values.length < 2 || found === undefined) return false;
  declareEach(plan, found.tool, new Map(), { parameter: found.parameter, values });
  if (kind === "most")
    return planSuperlative({ step: { text: `which is ${word}`, fields: [], items: [] }, plan, matches: [] });
  const words = kind === "spread" ? `difference ${found.key}` : asked;
  const aggregate = readAggregate(words, plan);
  if (aggregate === undefined) return false;
  plan.declare(aggregate.expression, { words: aggregate.words, schema: { type: "number" } });
  return true;
}

function planPair(text: string, plan: Plan): boolean {
  const groups = PAIR.exec(text)?.groups;
  const word = groups?.["word"]?.toLowerCase() ?? "";
  const first = readNames(groups?.["first"] ?? groups?.["inner"] ?? "");
  const second = readNames(groups?.["second"] ?? "");
  const found = findSource(word, plan.tools);
  const [a, b] = [first[0], second[0]];
  if (found === undefined || a === undefined || b === undefined || first.length + second.length !== 2)
    return false;
  const left = cell(plan, found, a);
  const right = cell(plan, found, b);
  const isAmount = /^(?:\S+\s+){0,4}how\s+much\b|^how\s+much\b/iu.test(text);
  const [high, low] = LOW.test(word) && isAmount ? [right, left] : [left, right];
  plan.declare(binary(high, isAmount ? "-" : LOW.test(word) ? "<" : ">", low), {
    words: isAmount ? "difference" : `is ${word}`,
    schema: { type: isAmount ? "number" : "boolean" },
  });
  return true;
}

interface Source {
  tool: ToolDefinition;
  parameter: string;
  key: string;
}

function cell(plan: Plan, { tool, parameter, key }: Source, value: string): Expression {
  const declared: Value = plan.declare(plan.callTool(tool, new Map([[parameter, literal(value)]])), {
    words: `${value} ${resultWords(tool)}`,
    schema: tool.outputSchema ?? {},
  });
  declared.consumed = true;
  return member(declared.expression, key);
}

/** The tool that tells a number of that name about one thing. */
export function findSource(word: string, tools: readonly ToolDefinition[]): Source | undefined {
  for (const tool of tools) {
    const required = readParameters(tool).filter((one) => one.isRequired);
    const [only] = required;
    const kind = kindOfTool(splitWords(tool.name)) ?? "read";
    if (only === undefined || required.length > 1 || !hasType(only.schema, "string") || kind !== "read")
      continue;
    if (!["place", "identifier", "text", "title", "query"].includes(only.role)) continue;
    const key = hasType(tool.outputSchema ?? {}, "object")
      ? matchProperty(word, tool.outputSchema ?? {}, "number")
      : undefined;
    if (key !== undefined) return { tool, parameter: only.name, key };
  }
  return undefined;
}

/** `Oslo, Rome or Lima`: names and nothing else. */
function readNames(text: string): string[] {
  const names = splitList(
    text.replaceAll(/\s+(?:or|versus|vs\.?)\s+/giu, " and "),
    new Phrase(text),
    true,
  ).map((name) => name.replace(/^(?:in|at|the city of)\s+/iu, "").replace(/^(["'`])(.*)\1$/u, "$2"));
  const isName = (name: string): boolean => {
    const words = splitWords(name);
    return (
      words.length > 0 &&
      words.length <= 5 &&
      !/\d/u.test(name) &&
      (/^\p{Lu}/u.test(name) || (words.length <= 3 && !words.some(isStopWord)))
    );
  };
  return names.every(isName) ? names : [];
}
