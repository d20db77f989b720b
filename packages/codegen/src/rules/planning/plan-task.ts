import type { ToolDefinition, UnfilledStep } from "@cem/core";
import { splitSteps, splitWords, type TaskStep } from "@cem/text";
import { isKnownVerb } from "../grammar/calls/verbs.ts";
import { withoutMention } from "../grammar/calls/mention.ts";
import { openSubject } from "../grammar/conditions/subject.ts";
import { readMentionedFile } from "../grammar/files/mentioned-file.ts";
import { ASKING, PRODUCTIONS } from "../grammar/index.ts";
import { readTokens } from "../language/lexer.ts";
import { literal } from "../program/expression.ts";
import { Branch } from "./branches.ts";
import { refuseUnclear } from "./called.ts";
import { Plan, Unfilled } from "./plan.ts";
import { readStep } from "./read-step.ts";
import type { Reading } from "./reading.ts";
import type { Step } from "./step.ts";

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
  plan.readAsked = (text) => {
    const reading = readStep({ text, span: readTokens(text), fields: [], items: [] }, plan, ASKING);
    return reading !== undefined && "lower" in reading ? reading : undefined;
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
      if (step.condition !== undefined && branch?.mayWait(step.condition.holds) === true) {
        plan.add({ kind: "throw", message: literal(naming(error.step)) });
        continue;
      }
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

function naming({ step, hint }: UnfilledStep): string {
  return hint.includes(step) ? hint : `"${step.slice(0, 120)}" can't be done: ${hint}`;
}

const MAX_REPORTED_STEPS = 20;
/** The most steps of one task. */
const MAX_STEPS = 300;
/** The most tokens of one step: words, numbers, signs, quoted texts. */
const MAX_STEP_TOKENS = 400;

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
  refuseUnclear(readTokens(condition.text), condition.text, plan);
  const branch = new Branch(plan, { ...condition, text: openSubject(condition.text, plan) });
  branch.enter(condition.holds);
  return branch;
}

const NEGATION = /^(?:don['’]?t|do not|never|not|avoid|without)\b/iu;

function planStep(step: TaskStep, plan: Plan): void {
  const span = readTokens(step.text);
  if (span.length > MAX_STEP_TOKENS) {
    throw new Unfilled({
      step: `${step.text.slice(0, 200)}…`,
      reason: "no-tool",
      hint: `This step has ${span.length.toLocaleString("en")} words and signs; the most is ${MAX_STEP_TOKENS}. Split it, or put long text in quotes.`,
    });
  }
  if (NEGATION.test(step.text)) {
    throw new Unfilled({
      step: step.text,
      reason: "no-tool",
      hint: `"${step.text.slice(0, 120)}" says what not to do. Say what to do.`,
    });
  }
  const { text, fields, items, condition } = step;
  refuseUnclear(span, text, plan);
  const whole: Step = { text, span, fields, items, isOtherwise: condition?.holds === false };
  const found = readWhole(withoutMention(whole, plan), plan);
  if (found === undefined || !("lower" in found)) throw new Unfilled(found ?? unreadStep(text));
  plan.preferred = undefined;
  found.lower();
}

/** Reads a step; where it names a file that another reading needs in memory, as what is left with the file open. */
function readWhole(step: Step, plan: Plan): Reading | UnfilledStep | undefined {
  const direct = readStep(step, plan, PRODUCTIONS);
  if (direct !== undefined && "lower" in direct) return direct;
  const mentioned = readMentionedFile(step, plan);
  if (mentioned === undefined) return direct;
  mentioned.open();
  const inside = readStep(mentioned.step, plan, PRODUCTIONS);
  return inside ?? direct;
}

const ASKS_WHAT_THERE_IS =
  /^(?:please )?(?:what (?:can|could) (?:you|i|we|it|cem) do(?: (?:here|for me|with (?:this|you|it)))?|what (?:tools|servers) (?:are there|do you have|can you use)|(?:list|show)(?: me)?(?: all| the| your| all the)? (?:available )?tools|help(?: me)?)[\s?.!]*$/iu;

function unreadStep(text: string): UnfilledStep {
  if (ASKS_WHAT_THERE_IS.test(text.trim()))
    return {
      step: text,
      reason: "no-tool",
      argument: "tools",
      hint: `"${text.trim()}" asks what there is, it is no task. Look at the list of tools, then say what to do with one of them.`,
    };
  return {
    step: text,
    reason: "no-tool",
    hint: `No tool that was chosen can do "${text.slice(0, 120)}", and it is no plain operation. Add a server that can, or say it in other words.`,
  };
}
