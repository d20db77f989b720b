import { toolId } from "@cem/core";
import type { CodeGenerator, RankedTool, Selection, ToolDefinition } from "@cem/core";
import { createTokenBudget, takeFitting } from "@cem/core/tokens";
import type { TokenBudget, TokenCounter } from "@cem/core/tokens";
import { callable } from "./catalog.ts";
import type { RunContext } from "./run-context.ts";

/** The part of the prompt that tools may take. */
export type ToolBudget = NonNullable<CodeGenerator["toolBudget"]>;

/** As many tools are ranked for each text that is searched for. */
const MAX_FOUND = 200;
/** For a generator that has no token budget of its own. */
const DEFAULT_BUDGET: ToolBudget = {
  tokens: 6_000,
  describe: ({ description, signature }) => `${signature} // ${description}`,
};

/** The share of the best score from which a tool is close to a task. */
const CLOSE_SHARE = 0.5;
/** Below this score even the best tool says little about the task: the ranking is not to be trusted. */
const CLEAR_SCORE = 0.1;
/** The tokens up to which tools that are not close are described as well, for a task whose words are clear. */
const SPARE_TOKENS = 2_000;

/** Tools that a model is offered already, and all tools. */
interface Offer {
  offered: readonly ToolDefinition[];
  /** The whole catalog. */
  tools: readonly ToolDefinition[];
}

/**
 * Picks the tools that a model is offered beyond those that the task seems to need. All that are close to the task, within the
 * generator's budget of tokens; others only as long as few tokens are spent, since a model that lacks a tool says so and is
 * offered more. Where the ranking says little, as many as the budget holds. Chosen on the retrieval sets, by the share of tasks
 * whose tools are all described.
 *
 * @returns for a generator that asks no model, all other tools, and of a large catalog those closest to the task.
 */
export async function offerTools(
  context: RunContext,
  task: string,
  { selected }: Selection,
  tools: readonly ToolDefinition[],
): Promise<ToolDefinition[]> {
  const { toolBudget } = await context.stages.generator.get();
  const offered = selected.map(({ tool }) => tool);
  if (toolBudget === undefined) {
    const others = callable(tools).filter((tool) => !offered.includes(tool));
    if (others.length <= MAX_FOUND) return others;
    return (await findOthers(context, task, { offered, tools }, MAX_FOUND)).map(({ tool }) => tool);
  }
  const { tokens, describe, count } = await measure(context, toolBudget);
  for (const tool of offered) tokens.take(describe(tool));
  const all = await findOthers(context, task, { offered: [], tools }, MAX_FOUND);
  const best = all[0]?.score ?? 0;
  const found = all.filter(({ tool }) => !offered.includes(tool));
  const ranked = withOthers(
    found.map(({ tool }) => tool),
    { offered, tools },
  );
  if (best < CLEAR_SCORE) return takeFitting(tokens, ranked, describe);
  const close = found.filter(({ score }) => score >= best * CLOSE_SHARE).map(({ tool }) => tool);
  const taken = takeFitting(tokens, close, describe);
  const spare = createTokenBudget(Math.min(SPARE_TOKENS, toolBudget.tokens) - tokens.spent, count);
  return [...taken, ...takeFitting(spare, ranked.slice(close.length), describe)];
}

/**
 * Picks further tools for a model that lacks some, with a budget of their own: all where they fit, else those that are found
 * by the model's own words for what is missing and by the task.
 */
export async function offerMore(
  context: RunContext,
  texts: readonly string[],
  offer: Offer,
): Promise<ToolDefinition[]> {
  const { toolBudget = DEFAULT_BUDGET } = await context.stages.generator.get();
  const { tokens, describe } = await measure(context, toolBudget);
  const found: ToolDefinition[] = [];
  for (const text of texts) {
    found.push(...(await findOthers(context, text, offer, MAX_FOUND)).map(({ tool }) => tool));
  }
  return takeFitting(tokens, withOthers(found, offer), describe);
}

/** Ranks the tools for a text, best first, without those that are offered already. */
export async function findOthers(
  { stages, signal }: RunContext,
  text: string,
  { offered, tools }: Offer,
  limit: number,
): Promise<RankedTool[]> {
  const selector = await stages.selector.get();
  const known = new Set(offered);
  const found = await selector.search({
    task: text,
    tools: callable(tools),
    limit: limit + known.size,
    signal,
  });
  return found.filter(({ tool }) => !known.has(tool)).slice(0, limit);
}

interface Budget {
  tokens: TokenBudget;
  describe: ToolBudget["describe"];
  count: TokenCounter;
}

async function measure({ stages }: RunContext, { describe, tokens }: ToolBudget): Promise<Budget> {
  const count = await stages.tokenCounter.get();
  return { tokens: createTokenBudget(tokens, count), describe, count };
}

/** Callable tools that are not offered: those that were found, best first, then those of the offered tools' servers, then the rest. */
function withOthers(found: readonly ToolDefinition[], { offered, tools }: Offer): ToolDefinition[] {
  const known = new Set(offered);
  const rest = callable(tools).filter((tool) => !known.has(tool));
  const servers = new Set(offered.map(({ server }) => server));
  const siblings = rest.filter(({ server }) => servers.has(server));
  return [...new Set([...found, ...siblings, ...rest])];
}

/** As many tools as are added because a program names them. */
const MAX_NAMED = 10;
/** As many tools as are added because an error is about them. */
const MAX_FOUND_FOR_REPAIR = 3;
const WORDS = /[\p{L}\p{N}_$]+/gu;

/**
 * Picks the tools that a repair needs and the prompt did not describe: those named by the code or the messages, else
 * those closest to the messages.
 */
export async function toolsForRepair(
  context: RunContext,
  { code, message }: { code: string; message: string },
  { selection, others }: Offered,
  tools: readonly ToolDefinition[],
): Promise<ToolDefinition[]> {
  const offered = [...selection.selected.map(({ tool }) => tool), ...others];
  const known = new Set(offered);
  const rest = callable(tools).filter((tool) => !known.has(tool));
  if (rest.length === 0) return [];
  const text = `${code}\n${message}`;
  const words = new Set(text.match(WORDS));
  const named = rest.filter((tool) => words.has(tool.name));
  // Where several servers have a tool of the name, the one whose server is named too.
  const exact = named.filter((tool) => text.includes(tool.module) || text.includes(toolId(tool)));
  if (named.length > 0) return (exact.length > 0 ? exact : named).slice(0, MAX_NAMED);
  const found = await findOthers(context, message, { offered, tools }, MAX_FOUND_FOR_REPAIR);
  return found.map(({ tool }) => tool);
}

/** The tools that code for a task may be written with. */
export interface Offered {
  selection: Selection;
  /** Tools described in the prompt beyond the selected ones. */
  others: readonly ToolDefinition[];
}
