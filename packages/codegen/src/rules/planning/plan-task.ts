import type { ToolDefinition, UnfilledStep } from "@cem/core";
import { splitSteps, splitWords, type TaskStep } from "@cem/text";
import { isKnownVerb } from "../matching/verb-classes.ts";
import { matchTools } from "../matching/match-tools.ts";
import { planArithmetic } from "../operations/arithmetic.ts";
import { planCollection, planColumns } from "../operations/collection.ts";
import { findSource, planCompareCalls } from "../operations/compare-calls.ts";
import { planDataQuery } from "../operations/data-query.ts";
import type { Operation, StepContext } from "../operations/operation.ts";
import { planShape } from "../operations/shape.ts";
import { planPrint, planVerify } from "../operations/print.ts";
import { planMention, withoutServer } from "../operations/skill.ts";
import { loadDocument } from "../operations/files.ts";
import { findJsonPath, planLoad, planSave } from "../operations/state.ts";
import { planStoreAs, planUpdate } from "../operations/state-update.ts";
import { planSuperlative } from "../operations/superlative.ts";
import { planTextFile } from "../operations/text-file.ts";
import { planToolCall } from "../operations/tool-call.ts";
import { Phrase } from "../reading/phrase.ts";
import { Branch } from "./branches.ts";
import { Plan, Unfilled } from "./plan.ts";

/** In the order in which they are tried for a step. */
const OPERATIONS: readonly Operation[] = [
  planMention,
  planLoad,
  planStoreAs,
  planSave,
  planUpdate,
  planVerify,
  planColumns,
  planShape,
  planPrint,
  planCompareCalls,
  planSuperlative,
  planArithmetic,
  planCollection,
  planTextFile,
  planDataQuery,
  planToolCall,
];

/** The operations that are tried for words inside another step. */
const ASKED: readonly Operation[] = [
  planColumns,
  planCompareCalls,
  planArithmetic,
  planCollection,
  planDataQuery,
  planToolCall,
];

/** The result of {@link planTask}. */
export interface PlannedTask {
  /** The planned program. Incomplete when `unfilled` is not empty. */
  plan: Plan;
  /** The steps that can't be planned, each with the reason. */
  unfilled: UnfilledStep[];
}

/**
 * Plans every step of a task without printing the program. Steps that can't be planned are collected, so that all of them
 * are reported at once.
 *
 * @param task - The task in plain words.
 * @param tools - The tools that steps may use.
 * @param now - The clock that "today" and "tomorrow" are read from.
 * @param signal - Aborts planning; its reason is thrown.
 */
export function planTask(
  task: string,
  tools: readonly ToolDefinition[],
  now: () => Date,
  signal?: AbortSignal,
): PlannedTask {
  const plan = new Plan(tools, now);
  const steps = splitSteps(task, {
    verbs: tools.map((tool) => splitWords(tool.name)[0] ?? "").filter((verb) => verb.length > 3),
    nouns: tools.flatMap((tool) =>
      splitWords(tool.name).filter((word) => !isKnownVerb(word) && word.length > 3),
    ),
  });
  plan.ask = (text) => {
    const before = plan.values.length;
    const context: StepContext = {
      step: { text, fields: [], items: [] },
      plan,
      matches: matchTools(text, plan.tools),
    };
    return ASKED.some((operation) => operation(context)) && plan.values.length > before;
  };
  const unfilled: UnfilledStep[] = [];
  let branch: Branch | undefined;
  for (const [at, step] of steps.slice(0, MAX_STEPS).entries()) {
    signal?.throwIfAborted();
    plan.stepIndex = at;
    plan.stepText = step.text;
    try {
      branch = changeBranch(branch, step, plan);
      planStep(step, plan);
    } catch (error) {
      if (!(error instanceof Unfilled)) throw error;
      const isTold = unfilled.some((one) => one.step === error.step.step && one.hint === error.step.hint);
      if (!isTold) unfilled.push(error.step);
      if (plan.values.length > 0 && unfilled.length >= MAX_REPORTED_STEPS) break;
    }
  }
  branch?.close();
  if (steps.length > MAX_STEPS)
    unfilled.push({
      step: task.slice(0, 200),
      reason: "no-tool",
      hint: `The task has ${steps.length.toLocaleString("en")} steps; the most is ${MAX_STEPS}. Split it into several tasks.`,
    });
  if (steps.length === 0)
    unfilled.push({ step: task.slice(0, 200), reason: "no-tool", hint: "Say what to do." });
  if (plan.preferred !== undefined && plan.uses.size === 0 && unfilled.length === 0)
    unfilled.push(unusedMention(plan));
  return { plan, unfilled };
}

const MAX_REPORTED_STEPS = 20;
/** The most steps of one task. */
const MAX_STEPS = 300;
/** The most characters of one step, quoted text aside. */
const MAX_STEP_CHARACTERS = 4_000;

function unusedMention(plan: Plan): UnfilledStep {
  const tool = plan.preferred;
  return {
    step: plan.mentioned ?? "",
    reason: "missing-argument",
    tool: tool === undefined ? "" : `${tool.server}.${tool.name}`,
    argument: Object.keys(tool?.inputSchema.properties ?? {})[0] ?? "",
    hint: "Say what to use it on.",
  };
}

function changeBranch(open: Branch | undefined, step: TaskStep, plan: Plan): Branch | undefined {
  const { condition } = step;
  if (open !== undefined && open.number !== condition?.branch) open.close();
  if (condition === undefined) return undefined;
  if (open?.number === condition.branch) {
    open.enter(condition.holds);
    return open;
  }
  const branch = new Branch(plan, { ...condition, text: planCondition(condition.text, plan) });
  branch.enter(condition.holds);
  return branch;
}

/** `the temperature in London is above 5`: what the condition is about is asked for first. Gives what is left of it. */
function planCondition(text: string, plan: Plan): string {
  const about = ABOUT.exec(text);
  const place = about?.[1];
  if (about === null || place === undefined) return text;
  const rest = `${text.slice(0, about.index)}${text.slice(about.index + about[0].length)}`.trim();
  if (plan.values.some((value) => value.about.includes(place))) return rest;
  const words = splitWords(rest);
  const source = words.map((word) => findSource(word, plan.tools)).find((one) => one !== undefined);
  if (source === undefined) return text;
  const step = { text: `get the ${source.key} in ${place}`, fields: [], items: [] };
  if (!planToolCall({ step, plan, matches: matchTools(step.text, [source.tool]) })) return text;
  for (const value of plan.values.slice(-1)) value.consumed = true;
  return rest;
}

const NEGATION = /^(?:don['’]?t|do not|never|not|avoid|without)\b/iu;
const ABOUT = /\s+(?:in|for|at|of)\s+((?:\p{Lu}[\p{L}'.-]*)(?:\s+\p{Lu}[\p{L}'.-]*)*)(?![\p{L}])/u;

/** `the average age in people.json`: the file is opened first. Gives the step without it. */
function openMentioned(text: string, plan: Plan): string {
  if (
    /^(?:read|load|open|fetch|parse|save|write|store|create|make|put|dump|export|append|import|copy|verify|check|initiali[sz]e|continue|retrieve|restore)\b/iu.test(
      text,
    )
  )
    return text;
  const path = findJsonPath(text);
  if (path === undefined) return text;
  const at = text.indexOf(path);
  const lead =
    /\s+(?:in|from|of|inside)\s+(?:the\s+)?(?:file\s+)?["'`]?$/iu.exec(text.slice(0, at)) ??
    /^(?:in|from)\s+(?:the\s+)?(?:file\s+)?["'`]?$/iu.exec(text.slice(0, at)) ??
    changesFile(text, at, path);
  if (lead === null) return text;
  const rest = `${text.slice(0, lead.index)}${text
    .slice(at + path.length)
    .replace(/^["'`]/u, "")
    .replace(/^\s*[,:]/u, "")}`.trim();
  if (
    /^(?:what(?:['’]s| is| are)|show|show me|display|tell me what is)(?: the (?:contents?|data))?\??$/iu.test(
      rest,
    )
  )
    return `read ${path}`;
  if (plan.documents.every((document) => document.path !== path)) loadDocument(plan, path, text);
  return rest;
}

/** `update state.json: set …`: the order itself comes after the file. */
function changesFile(text: string, at: number, path: string): RegExpExecArray | null {
  if (!/^["'`]?\s*[:,]/u.test(text.slice(at + path.length))) return null;
  return /^(?:update|change|modify|edit|continue)\s+(?:the\s+)?(?:\p{L}+\s+)?(?:file\s+)?["'`]?$/iu.exec(
    text.slice(0, at),
  );
}

function planStep(step: TaskStep, plan: Plan): void {
  const length = new Phrase(step.text).text.length;
  if (length > MAX_STEP_CHARACTERS) {
    throw new Unfilled({
      step: `${step.text.slice(0, 200)}…`,
      reason: "no-tool",
      hint: `This step has ${length.toLocaleString("en")} characters outside of quotes; the most is ${MAX_STEP_CHARACTERS.toLocaleString("en")}. Split it, or put long text in quotes.`,
    });
  }
  if (NEGATION.test(step.text)) {
    throw new Unfilled({
      step: step.text,
      reason: "no-tool",
      hint: `"${step.text.slice(0, 120)}" says what not to do. Say what to do.`,
    });
  }
  const text = openMentioned(withoutServer(step.text, plan), plan);
  const context: StepContext = {
    step: { ...step, text },
    plan,
    matches: matchTools(text, plan.tools),
  };
  if (plan.preferred !== undefined && planToolCall(context)) {
    plan.preferred = undefined;
    return;
  }
  if (OPERATIONS.some((operation) => operation(context))) return;
  throw new Unfilled({
    step: step.text,
    reason: "no-tool",
    hint: `No tool that was chosen can do "${step.text.slice(0, 120)}", and it is no plain operation. Add a server that can, or say it in other words.`,
  });
}
