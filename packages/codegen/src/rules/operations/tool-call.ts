import type { JsonSchema, ToolDefinition } from "@cem/core";
import { isStopWord, splitStems, splitWords, stem } from "@cem/text";
import { matchProperty, PROPERTY_WORDS } from "../planning/references.ts";
import { lookUp } from "../reading/look-up.ts";
import { fillArguments } from "../arguments/fill.ts";
import type { FilledArguments } from "../arguments/filling.ts";
import { unreadDemand } from "../arguments/unread.ts";
import { kindOfTool } from "../matching/verb-classes.ts";
import type { Plan } from "../planning/plan.ts";
import { readAggregate } from "./aggregate.ts";
import { declareEach, planForEachResult, planThatMany } from "./for-each.ts";
import type { StepContext } from "./operation.ts";
import { applySelection } from "./rows.ts";
import type { RowSelection } from "../reading/row-selection.ts";
import { readParameters } from "../arguments/roles.ts";
import { hasType } from "../planning/value.ts";
import { refusal, unread } from "./refusal.ts";
import { resultWords } from "./result-words.ts";

const MAX_CANDIDATES = 6;

/** Calls the tool that suits the step best and whose parameters the text fills. */
export function planToolCall({ step, plan, matches }: StepContext): boolean {
  const candidates =
    plan.preferred === undefined
      ? listingFirst(matches, step.text, plan.tools).slice(0, MAX_CANDIDATES)
      : [plan.preferred];
  let firstDemand: { tool: ToolDefinition; demand: string } | undefined;
  let firstMissing: { tool: ToolDefinition; filled: FilledArguments } | undefined;
  for (const [at, tool] of candidates.entries()) {
    if (planThatMany(tool, step.text, plan) || planForEachResult(tool, step.text, plan)) return true;
    const cut = cutOf(tool, step.text);
    const filled = fillArguments(tool, { ...step, text: cut?.text ?? step.text }, plan);
    if (filled.missing.length === 0 && filled.wrong === undefined) {
      if (at > 0 && !isCloseSecond(matches, tool)) break;
      const aggregates = filled.each !== undefined && AGGREGATE.test(step.text);
      const demand = aggregates ? undefined : unreadDemand(tool, step.text, filled);
      if (demand !== undefined) {
        firstDemand ??= { tool, demand };
        continue;
      }
      declareCall(plan, tool, filled, step.text);
      const list = plan.values.at(-1);
      if (cut !== undefined && list !== undefined)
        applySelection(plan, list, { ...EVERYTHING, ...cut.selection });
      return true;
    }
    firstMissing ??= { tool, filled };
  }
  if (firstDemand !== undefined) throw unread(step.text, firstDemand.tool, firstDemand.demand);
  if (firstMissing === undefined) return false;
  throw refusal(step.text, firstMissing.tool, firstMissing.filled);
}

const EVERYTHING: RowSelection = { filters: [], entity: [], adjectives: [], rest: "" };

/** `the first 3 locations`, `how many tables are there`, of a tool that gives a list. */
function cutOf(
  tool: ToolDefinition,
  text: string,
): { text: string; selection: Partial<RowSelection> } | undefined {
  const isList = hasType(tool.outputSchema ?? {}, "array");
  if (!isList) return undefined;
  if (/^how many\b/iu.test(text))
    return { text: text.replace(/^how many/iu, "list"), selection: { aggregate: { kind: "count" } } };
  const match =
    /\b(?:only\s+)?(?:the\s+)?(first|last|top)\s+(\d{1,9})\s+(?!days?\b|weeks?\b|hours?\b|months?\b)/iu.exec(
      text,
    );
  if (match === null || readParameters(tool).some((one) => one.role === "number")) return undefined;
  return {
    text: `${text.slice(0, match.index)}the ${text.slice(match.index + match[0].length)}`,
    selection: {
      limit: { count: Number(match[2]), fromEnd: /^last$/iu.test(match[1] ?? ""), isSingle: false },
    },
  };
}

/** `what files are there` asks for many: a tool that lists them comes before one that reads one. */
function listingFirst(
  matches: StepContext["matches"],
  text: string,
  known: readonly ToolDefinition[],
): ToolDefinition[] {
  const tools = matches.map((match) => match.tool);
  const many =
    /^(?:what|which|list|show|how many|display|see)\s+(?:me\s+)?(?:all\s+|the\s+)*(\p{L}+s)\b/iu.exec(
      text,
    )?.[1];
  if (many === undefined) return tools;
  const [best] = tools;
  const all = [...tools, ...known.filter((tool) => tool.server === best?.server && !tools.includes(tool))];
  const lists = all.filter(
    (tool) =>
      kindOfTool(splitWords(tool.name)) === "list" &&
      splitStems(`${tool.name} ${tool.description}`).includes(stem(many.toLowerCase())),
  );
  return [...lists, ...tools.filter((tool) => !lists.includes(tool))];
}

const AGGREGATE =
  /\b(?:average|mean|sum|total|maximum|max|highest|minimum|min|lowest|median)\s+(?:of\s+)?[\p{L}_]+/iu;

function isCloseSecond(matches: StepContext["matches"], tool: ToolDefinition): boolean {
  const [best] = matches;
  const other = matches.find((match) => match.tool === tool);
  if (best === undefined || other === undefined || (best.isStrong && !other.isStrong)) return false;
  return other.score >= 0.6 * best.score;
}

/** `get the temperature in Oslo` asks for one property of what the tool gives. */
function noteAsked(plan: Plan, step: string, schema: JsonSchema): void {
  const value = plan.values.at(-1);
  const words = splitWords(step.slice(0, 500)).filter((word) => !isStopWord(word));
  const asked = words
    .map((word) => matchProperty(lookUp(PROPERTY_WORDS, word)?.[0] ?? word, schema, "number"))
    .find((key) => key !== undefined);
  if (value !== undefined && asked !== undefined) value.asked = asked;
}

function declareCall(plan: Plan, tool: ToolDefinition, filled: FilledArguments, step: string): void {
  for (const value of filled.consumed) value.consumed = true;
  const nameWords = splitWords(tool.name);
  const kind = kindOfTool(nameWords) ?? "";
  const isEffect = kind === "write" || (["remove", "update"].includes(kind) && nameWords.includes("file"));
  if (filled.each !== undefined) {
    declareEach(plan, tool, filled.args, filled.each);
    noteAsked(plan, step, tool.outputSchema ?? {});
    const asked = AGGREGATE.exec(step)?.[0];
    const aggregate = asked === undefined ? undefined : readAggregate(asked, plan);
    if (aggregate !== undefined)
      plan.declare(aggregate.expression, { words: aggregate.words, schema: { type: "number" } });
    return;
  }
  plan.declare(plan.callTool(tool, filled.args), {
    words: resultWords(tool),
    schema: tool.outputSchema ?? {},
    isEffect,
  });
  noteAsked(plan, step, tool.outputSchema ?? {});
  const path = filled.args.get("path");
  if (path?.kind === "literal" && typeof path.value === "string") plan.lastPath = path.value;
}
