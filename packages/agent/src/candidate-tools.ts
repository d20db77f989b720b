import { toolId, type CodeGenerator, type RankedTool, type Selection, type ToolDefinition } from "@cem/core";
import { createTokenBudget, takeFitting, type TokenBudget, type TokenCounter } from "@cem/core/tokens";
import { callable } from "./catalog.ts";
import type { RunContext } from "./stages.ts";

export type ToolBudget = NonNullable<CodeGenerator["toolBudget"]>;

/** Number of tools ranked for each search text. */
const MAX_FOUND = 200;
/** The budget of a generator without one of its own. */
const DEFAULT_BUDGET: ToolBudget = {
  tokens: 6_000,
  describe: ({ description, signature }) => `${signature} // ${description}`,
};

/** The fraction of the best score above which a tool counts as close to the task. */
const CLOSE_SHARE = 0.5;
/** Number of tokens up to which other tools are offered as well. */
const SPARE_TOKENS = 1_890;
/** The fraction of all tokens that is reserved for names, however many tools are close. */
const NAMED_SHARE = 0.1;

interface Offer {
  offered: readonly ToolDefinition[];
  /** The whole catalog. */
  tools: readonly ToolDefinition[];
}

/**
 * Picks the tools that a model is offered in addition to those selected for the task. All tools close to the task are
 * described, within the generator's token budget. Of the rest, the next ones are described and many are named while few
 * tokens are spent, since a model that lacks a tool says so and is offered more. Tuned on the retrieval sets for the share
 * of needed tools that are offered.
 *
 * @returns for a generator that asks no model, all other tools; for a large catalog, those closest to the task.
 */
export async function offerTools(
  context: RunContext,
  task: string,
  { selected }: Selection,
  tools: readonly ToolDefinition[],
): Promise<ToldTools> {
  const { toolBudget } = await context.stages.generator.get();
  const offered = selected.map(({ tool }) => tool);
  if (toolBudget === undefined) {
    const others = callable(tools).filter((tool) => !offered.includes(tool));
    if (others.length <= MAX_FOUND) return { others, named: [] };
    const found = await findOthers(context, task, { offered, tools }, MAX_FOUND);
    return { others: found.map(({ tool }) => tool), named: [] };
  }
  const count = await context.stages.tokenCounter.get();
  const { describe } = toolBudget;
  const tokens = createTokenBudget(toolBudget.tokens * (1 - NAMED_SHARE), count);
  for (const tool of offered) tokens.take(describe(tool));
  const near = await findOthers(context, task, { offered: [], tools }, MAX_FOUND);
  const best = near[0]?.score ?? 0;
  const found = near.filter(({ tool }) => !offered.includes(tool));
  const close = found.filter(({ score }) => score >= best * CLOSE_SHARE).map(({ tool }) => tool);
  const taken = takeFitting(tokens, close, describe);
  const all = withOthers(
    found.map(({ tool }) => tool),
    { offered, tools },
  );
  const ranked = all.filter((tool) => !taken.includes(tool));
  const spare = Math.min(SPARE_TOKENS, toolBudget.tokens) - tokens.spent;
  const { others, named } = tell(ranked, toolBudget, count, spare);
  return { others: [...taken, ...others], named };
}

/** Picks more tools, with a budget of their own: all if they fit, else those near to what is missing and to the task. */
export async function offerMore(context: RunContext, texts: readonly string[], offer: Offer) {
  const { toolBudget = DEFAULT_BUDGET } = await context.stages.generator.get();
  const found: ToolDefinition[] = [];
  for (const text of texts) {
    found.push(...(await findOthers(context, text, offer, MAX_FOUND)).map(({ tool }) => tool));
  }
  const count = await context.stages.tokenCounter.get();
  return tell(withOthers(found, offer), toolBudget, count, toolBudget.tokens);
}

/** Describes all tools if they fit, else the first ones, and names others. Tokens that names leave go to descriptions. */
function tell(
  ranked: readonly ToolDefinition[],
  { describe, tokens: most }: ToolBudget,
  count: TokenCounter,
  tokens: number,
): ToldTools {
  const all = takeFitting(createTokenBudget(tokens, count), ranked, describe);
  if (all.length === ranked.length) return { others: all, named: [] };
  const names = createTokenBudget(most * NAMED_SHARE, count);
  takeNames(names, ranked);
  const described = createTokenBudget(tokens - names.spent, count);
  const others = takeFitting(described, ranked, describe);
  const isDescribed = new Set(others);
  const rest = ranked.filter((tool) => !isDescribed.has(tool));
  const left = Math.max(names.spent, tokens - described.spent);
  return { others, named: takeNames(createTokenBudget(left, count), rest) };
}

/** Takes as many names as fit. The first tool of each server also costs the server's name. */
function takeNames(budget: TokenBudget, tools: readonly ToolDefinition[]): ToolDefinition[] {
  const servers = new Set<string>();
  return takeFitting(budget, tools, ({ server, name }) => {
    if (servers.has(server)) return name;
    servers.add(server);
    return `${server} ${name}`;
  });
}

/** Ranks the tools for a text, best first, without those already offered. */
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

/** Callable tools that are not offered yet: those found, best first, then those of the offered tools' servers, then the rest. */
function withOthers(found: readonly ToolDefinition[], { offered, tools }: Offer): ToolDefinition[] {
  const known = new Set(offered);
  const rest = callable(tools).filter((tool) => !known.has(tool));
  const servers = new Set(offered.map(({ server }) => server));
  const siblings = rest.filter(({ server }) => servers.has(server));
  return [...new Set([...found, ...siblings, ...rest])];
}

/** Maximum number of tools added because a program names them. */
const MAX_NAMED = 10;
/** Maximum number of tools added because an error is about them. */
const MAX_FOUND_FOR_REPAIR = 3;
const WORDS = /[\p{L}\p{N}_$]+/gu;

/** Picks undescribed tools that a repair needs: those named by code or messages, else those closest to the messages. */
export async function toolsForRepair(
  context: RunContext,
  { code, message }: { code: string; message: string },
  { selection, others }: Pick<Offered, "selection" | "others">,
  tools: readonly ToolDefinition[],
): Promise<ToolDefinition[]> {
  const offered = [...selection.selected.map(({ tool }) => tool), ...others];
  const known = new Set(offered);
  const rest = callable(tools).filter((tool) => !known.has(tool));
  if (rest.length === 0) return [];
  const text = `${code}\n${message}`;
  const words = new Set(text.match(WORDS));
  const named = rest.filter((tool) => words.has(tool.name));
  // If several servers have a tool of this name, the one whose server is named too.
  const exact = named.filter((tool) => text.includes(tool.module) || text.includes(toolId(tool)));
  if (named.length > 0) return (exact.length > 0 ? exact : named).slice(0, MAX_NAMED);
  const found = await findOthers(context, message, { offered, tools }, MAX_FOUND_FOR_REPAIR);
  return found.map(({ tool }) => tool);
}

/** Tools in a prompt beyond the selected ones. */
interface ToldTools {
  /** Tools that are described. */
  others: readonly ToolDefinition[];
  named: readonly ToolDefinition[];
}

export interface Offered extends ToldTools {
  selection: Selection;
}
