import type { ToolDefinition, UnfilledStep } from "@cem/core";
import { outline, splitSteps, splitWords, type TaskStep } from "@cem/core/text";
import type { StepCondition, StepField } from "@cem/core/text";
import { planCalculation, readComparison } from "../arithmetic/calculate.ts";
import { nearestTool } from "../calls/candidates.ts";
import { planManyCalls } from "../calls/many-calls.ts";
import { lowerCall, readCall } from "../calls/plan-call.ts";
import { planFiles } from "../files/plan-files.ts";
import { form, Phrase } from "../language/phrase.ts";
import { createPlan, type Plan } from "../planning/plan.ts";
import { cite, Unfilled } from "../planning/value.ts";
import { conditional, literal, name, not, type Statement } from "../program/expression.ts";
import { printBlock } from "../program/print-program.ts";
import { planRows } from "../rows/plan-rows.ts";

/** The steps of one condition, while they are being planned. */
function openBranch(plan: Plan, condition: StepCondition) {
  const test = readComparison(Phrase.read(condition.text), plan);
  if (test === undefined)
    throw plan.unread(
      "condition",
      `${cite(`if ${condition.text}`)} compares nothing that an earlier step gives. Name a result or one of its properties, and a number.`,
    );
  plan.flush();
  const outer = plan.block;
  const [then, otherwise]: [Statement[], Statement[]] = [[], []];
  const firstValue = plan.values.length;
  const firstDocument = plan.documents.length;
  return {
    number: condition.branch,
    enter(holds: boolean): void {
      plan.flush();
      plan.block = holds ? then : otherwise;
    },
    /** Adds the branch to the program: as `const x = test ? … : null` if that suffices. */
    close(): void {
      plan.flush();
      plan.block = outer;
      // A file read on only one side is not available after the branch.
      plan.documents.splice(firstDocument);
      const made = plan.values.slice(firstValue);
      const [only, other] = [onlyConstant(then), onlyConstant(otherwise)];
      if (only !== undefined && otherwise.length === 0) {
        plan.addConstant(only.name, conditional(test, only.value, literal(null)));
      } else if (only !== undefined && other !== undefined) {
        const variable = plan.names.take("result", "result");
        plan.addConstant(variable, conditional(test, only.value, other.value));
        for (const value of made) value.consumed = true;
        plan.track(name(variable), variable, { words: "result", schema: made[0]?.schema });
      } else {
        // Values of steps in one side don't exist after the branch.
        plan.values.splice(firstValue);
        const isElse = then.length === 0;
        const head = `if (${isElse ? not(test).text : test.text}) ${printBlock(isElse ? otherwise : then)}`;
        plan.add(isElse || otherwise.length === 0 ? head : `${head} else ${printBlock(otherwise)}`);
      }
    },
  };
}

type Branch = ReturnType<typeof openBranch>;

function onlyConstant(block: readonly Statement[]): Statement["constant"] {
  return block.length === 1 ? block[0]?.constant : undefined;
}

export const MAX_TASK_CHARACTERS = 4_000;

/** Plans the steps of a task, up to the first that can't be planned, which is returned with the reason. */
export function planTask(
  task: string,
  tools: readonly ToolDefinition[],
  now: () => Date,
  signal?: AbortSignal,
): { plan: Plan; unfilled?: UnfilledStep } {
  const plan = createPlan(tools, now);
  try {
    planSteps(task, plan, signal);
    return { plan };
  } catch (error) {
    if (error instanceof Unfilled)
      return { plan, unfilled: { ...error.step, step: error.step.step.slice(0, 200) } };
    throw error;
  }
}

function planSteps(task: string, plan: Plan, signal: AbortSignal | undefined): void {
  if (task.length > MAX_TASK_CHARACTERS) {
    const size = `The task has ${task.length.toLocaleString("en")} characters, and the rules read ${MAX_TASK_CHARACTERS.toLocaleString("en")} at most.`;
    plan.stepText = task;
    throw plan.unread("task", size);
  }
  const steps = splitSteps(task, {
    verbs: plan.tools.map(({ name }) => splitWords(name)[0] ?? "").filter(({ length }) => length > 3),
  });
  if (steps.length === 0) throw new Unfilled({ step: task, reason: "no-tool", hint: "Say what to do." });
  const isQuestion = findQuestions(task);
  let branch: Branch | undefined;
  for (const step of steps) {
    signal?.throwIfAborted();
    plan.stepText = step.text;
    plan.isQuestion = isQuestion(step.text);
    branch = changeBranch(branch, step, plan);
    if (step.items.length > 0)
      throw plan.unread("items", `The list below ${cite(step.text)} was not understood.`);
    planStep(Phrase.read(step.text), step.fields, plan);
  }
  branch?.close();
  const { preferred } = plan;
  if (preferred !== undefined)
    throw plan.unread(preferred.name, `Nothing says what to use ${preferred.name} on.`, preferred);
}

function changeBranch(open: Branch | undefined, step: TaskStep, plan: Plan): Branch | undefined {
  const { condition } = step;
  if (open !== undefined && open.number !== condition?.branch) open.close();
  if (condition === undefined) return undefined;
  const branch = open?.number === condition.branch ? open : openBranch(plan, condition);
  branch.enter(condition.holds);
  return branch;
}

const ASKS =
  /^(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|will|would|should|shall|may|might|must|has|have|had|can|could)\b/iu;
/** Questions that are instructions. */
const ORDER =
  /^(?:(?:hi|hello|hey|ok|okay|well|so|and|then|please)\b[\s,!]*)*(?:could|can|would|will) you\b/iu;

/** Finds the sentences of a task that are questions, which must not change anything. */
function findQuestions(task: string): (step: string) => boolean {
  const [questions, orders]: [string[], string[]] = [[], []];
  const mask = outline(task);
  let start = 0;
  for (const found of `${mask} `.matchAll(/(?<![.!?])[.!?]+(?=\s)|\n/gu)) {
    const end = found.index + found[0].length;
    const sentence = plain(task.slice(start, end));
    if (found[0].includes("?")) (ORDER.test(sentence) ? orders : questions).push(sentence);
    start = end;
  }
  return (step) => {
    const includesStep = (sentence: string): boolean => sentence.includes(plain(step));
    if (ASKS.test(step) || questions.some(includesStep)) return true;
    return step.endsWith("?") && !orders.some(includesStep);
  };
}

function plain(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}

const MENTION = form(
  "(?:import|use|load|take)(?: (?:skill|tool))? {tool:name}(?: (?:skill|tool))?(?: from (?:skills|servers))?",
);
const NEGATION = /^(?:don['’]?t|do not|never|not|avoid|without)\b/iu;
const ASKS_WHAT_THERE_IS =
  /^(?:please )?(?:what (?:can|could) (?:you|i|we|it|cem) do(?: (?:here|for me|with (?:this|you|it)))?|what (?:tools|servers) (?:are there|do you have|can you use)|(?:list|show)(?: me)?(?: all| the| your| all the)? (?:available )?tools|help(?: me)?)[\s?.!]*$/iu;

/** Plans a named tool, files, rows, a calculation or an evident call. @throws Unfilled for a part not understood. */
function planStep(phrase: Phrase, fields: readonly StepField[], plan: Plan): void {
  if (NEGATION.test(phrase.text))
    throw plan.unread("not", `${cite(phrase.text)} says what not to do. Say what to do.`);
  if (planMention(phrase, plan)) return;
  if (plan.preferred !== undefined) return planPreferred(phrase, plan.preferred, plan);
  const done =
    planManyCalls(phrase, plan) ||
    planFiles(phrase, fields, plan) ||
    planRows(phrase, plan) ||
    planCalculation(phrase, plan);
  if (!done) {
    const { filling, refusal } = readCall(phrase, plan);
    if (filling === undefined) throw refusal ?? unread(phrase, plan);
    lowerCall(filling, plan);
  }
  if (fields.length > 0 && !TAKES_FIELDS.test(phrase.shape))
    throw plan.unread("fields", `The fields below ${cite(phrase.text)} belong to nothing that it does.`);
}

const TAKES_FIELDS = /^(?:create|make|initialize|write|save|store|put|export)\b/u;

/** `import the double_number skill`: a later step provides the arguments. */
function planMention(phrase: Phrase, plan: Plan): boolean {
  const named = phrase.match(MENTION)?.lower("tool");
  const tool = named === undefined ? undefined : plan.tools.find(({ name }) => name.toLowerCase() === named);
  if (tool === undefined || Object.keys(tool.inputSchema.properties ?? {}).length === 0) return false;
  plan.preferred = tool;
  return true;
}

function planPreferred(phrase: Phrase, tool: ToolDefinition, plan: Plan): void {
  const { filling } = readCall(phrase, plan);
  if (filling?.tool !== tool)
    throw plan.unread(tool.name, `${cite(phrase.text)} does not say what to use ${tool.name} on.`, tool);
  plan.preferred = undefined;
  lowerCall(filling, plan);
}

function unread(phrase: Phrase, plan: Plan): Error {
  const step = phrase.text;
  if (ASKS_WHAT_THERE_IS.test(plan.stepText.trim()))
    return new Unfilled({
      step,
      reason: "no-tool",
      argument: "tools",
      hint: `${cite(plan.stepText)} asks what there is and is not a task. Look at the list of tools, then say what to do with one of them.`,
    });
  const nearest = nearestTool(phrase, plan.tools);
  if (nearest !== undefined) return plan.unread("step", `${cite(step)} was not understood.`, nearest);
  return new Unfilled({
    step: plan.stepText,
    reason: "no-tool",
    hint: `${cite(step)} was not understood: it does not name a tool, and is not a calculation or work on a file or on rows.`,
  });
}
