import { type JsonSchema, toolId, type ToolDefinition } from "@cem/core";
import { isStopWord, splitStems, splitWords, stem } from "@cem/text";
import type { Plan } from "../../planning/plan.ts";
import { Unfilled } from "../../planning/plan.ts";
import { matchProperty, meaningsOf } from "../../planning/references.ts";
import { RANK, type Reading } from "../../planning/reading.ts";
import type { Production, Step } from "../../planning/step.ts";
import { fillArguments } from "./fill.ts";
import type { FilledArguments } from "./filling.ts";
import { declareEach, readForEachResult, readThatMany } from "./for-each.ts";
import { matchTools, type ToolMatch, verbOf } from "./match-tools.ts";
import { changeNotOrdered, refusal, unread } from "./refusal.ts";
import { resultWords } from "./result-words.ts";
import { unclaimed } from "./unread.ts";
import { changes, kindOfTool, ordersChange } from "./verbs.ts";

const MAX_CANDIDATES = 6;
const CALLING = new Set(["call", "use", "run", "execute", "invoke"]);
/** A tool that scores less than this share of the best is no candidate. */
const CLOSE_SHARE = 0.4;

/** Calls the tool that suits the step best, whose arguments the text fills, and that leaves no word unclaimed. */
export const readCall: Production = (step, plan) => {
  const refusals: Unfilled[] = [];
  for (const { tool, rank } of candidates(step, plan)) {
    try {
      const lower = readTool(tool, step, plan);
      if (lower !== undefined)
        return { kind: `call ${toolId(tool)}`, rank, schema: tool.outputSchema, lower };
    } catch (error) {
      if (!(error instanceof Unfilled)) throw error;
      refusals.push(error);
    }
  }
  const [first = changeOnly(step, plan)] = refusals;
  if (first !== undefined) throw first;
  return undefined;
};

/** Only a tool that changes something has to do with the step, which orders no change. */
function changeOnly({ text }: Step, plan: Plan): Unfilled | undefined {
  if (ordersChange(verbOf(text), [])) return undefined;
  const [match] = matchTools(text, plan.tools.filter(changes), { anyVerb: true });
  return match?.isStrong === true ? changeNotOrdered(text, match.tool) : undefined;
}

interface Candidate {
  tool: ToolDefinition;
  rank: number;
}

function candidates(step: Step, plan: Plan): Candidate[] {
  if (plan.preferred !== undefined) return [{ tool: plan.preferred, rank: RANK.named }];
  const matches = matchTools(step.text, step.tools ?? plan.tools);
  const [best] = matches;
  const close = matches.filter((match) => match.score >= CLOSE_SHARE * (best?.score ?? 0));
  const base = step.tools === undefined ? 0 : RANK.named - RANK.tool;
  return listingFirst(close, step.text, plan.tools)
    .slice(0, MAX_CANDIDATES)
    .map(({ tool, isStrong }) => ({ tool, rank: base + (isStrong ? RANK.tool : RANK.described) }));
}

/** `what files are there` asks for many: a tool that lists them comes before one that reads one. */
function listingFirst(
  matches: readonly ToolMatch[],
  text: string,
  known: readonly ToolDefinition[],
): Pick<ToolMatch, "tool" | "isStrong">[] {
  const many =
    /^(?:what|which|list|show|how many|display|see)\s+(?:me\s+)?(?:all\s+|the\s+)*(\p{L}+s)\b/iu.exec(
      text,
    )?.[1];
  const [best] = matches;
  if (many === undefined || best === undefined) return [...matches];
  const others = known
    .filter((tool) => tool.server === best.tool.server && !matches.some((match) => match.tool === tool))
    .map((tool) => ({ tool, isStrong: false }));
  const all = [...matches, ...others];
  const listing = all.filter(
    ({ tool }) =>
      kindOfTool(splitWords(tool.name)) === "list" &&
      splitStems(`${tool.name} ${tool.description}`).includes(stem(many.toLowerCase())),
  );
  return [...listing, ...matches.filter((match) => !listing.includes(match))];
}

function readTool(tool: ToolDefinition, step: Step, plan: Plan): Reading["lower"] | undefined {
  const { text } = step;
  const isOrdered =
    plan.preferred !== undefined || isCalled(tool, text) || ordersChange(verbOf(text), splitWords(tool.name));
  if (changes(tool) && !isOrdered) throw changeNotOrdered(text, tool);
  const mapped = readThatMany(tool, text, plan) ?? readForEachResult(tool, text, plan);
  if (mapped !== undefined) return mapped;
  const filled = fillArguments(tool, { text, fields: [...step.fields], items: [...step.items] }, plan);
  if (filled.missing.length > 0 || filled.wrong !== undefined) throw refusal(text, tool, filled);
  const words = unclaimed(tool, text, filled);
  if (words.length > 0) throw unread(text, tool, words);
  return () => declareCall(plan, tool, filled, text);
}

/** `Call git_commit …`: the step says the tool itself. */
function isCalled({ name }: ToolDefinition, text: string): boolean {
  return CALLING.has(verbOf(text) ?? "") && splitWords(text).join(" ").includes(splitWords(name).join(" "));
}

function declareCall(plan: Plan, tool: ToolDefinition, filled: FilledArguments, text: string): void {
  for (const value of filled.consumed) value.consumed = true;
  if (filled.each === undefined) {
    const nameWords = splitWords(tool.name);
    const kind = kindOfTool(nameWords) ?? "";
    const isEffect = kind === "write" || (["remove", "update"].includes(kind) && nameWords.includes("file"));
    const called = plan.callTool(tool, filled.args);
    plan.declare(called, { words: resultWords(tool), schema: tool.outputSchema ?? {}, isEffect });
  } else {
    declareEach(plan, tool, filled.args, filled.each);
  }
  noteAsked(plan, text, tool.outputSchema ?? {});
  const path = filled.args.get("path");
  if (path?.kind === "literal" && typeof path.value === "string") plan.lastPath = path.value;
}

/** `get the temperature in Oslo` asks for one property of what the tool gives. */
function noteAsked(plan: Plan, text: string, schema: JsonSchema): void {
  const value = plan.values.at(-1);
  const asked = splitWords(text.slice(0, 500))
    .filter((word) => !isStopWord(word))
    .map((word) => matchProperty(meaningsOf(word)[0] ?? word, schema, "number"))
    .find((key) => key !== undefined);
  if (value !== undefined && asked !== undefined) value.asked = asked;
}
