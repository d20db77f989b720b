import type { ToolDefinition } from "@cem/core";
import type { StepField } from "@cem/core/text";
import { planCalculation } from "../arithmetic/calculate.ts";
import { nearestTool } from "../calls/candidates.ts";
import { planManyCalls } from "../calls/many-calls.ts";
import { lowerCall, readCall } from "../calls/plan-call.ts";
import { planFiles } from "../files/plan-files.ts";
import { form, type Phrase } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { cite, Unfilled } from "../planning/value.ts";
import { planRows } from "../rows/plan-rows.ts";

const MENTION = form(
  "(?:import|use|load|take)(?: (?:skill|tool))? {tool:name}(?: (?:skill|tool))?(?: from (?:skills|servers))?",
);
const NEGATION = /^(?:don['’]?t|do not|never|not|avoid|without)\b/iu;
const ASKS_WHAT_THERE_IS =
  /^(?:please )?(?:what (?:can|could) (?:you|i|we|it|cem) do(?: (?:here|for me|with (?:this|you|it)))?|what (?:tools|servers) (?:are there|do you have|can you use)|(?:list|show)(?: me)?(?: all| the| your| all the)? (?:available )?tools|help(?: me)?)[\s?.!]*$/iu;

/**
 * Plans one step: a named tool, files, rows, a calculation, or an evident call.
 *
 * @throws Unfilled if a part of it is not understood.
 */
export function planStep(phrase: Phrase, fields: readonly StepField[], plan: Plan): void {
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

/** The call of the tool that an earlier step mentioned. */
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
      hint: `${cite(plan.stepText)} asks what there is, it is no task. Look at the list of tools, then say what to do with one of them.`,
    });
  const nearest = nearestTool(phrase, plan.tools);
  if (nearest !== undefined) return plan.unread("step", `${cite(step)} was not understood.`, nearest);
  return new Unfilled({
    step: plan.stepText,
    reason: "no-tool",
    hint: `${cite(step)} was not understood: it names no tool, and is no calculation and no work on a file or on rows.`,
  });
}
