import { CemError, type GenerationUsage } from "@cem/core";
import { loadTokenCounter } from "@cem/core/tokens";
import type { Completion, Message } from "./completion.ts";
import type { LlmBudget, LlmSettings } from "./settings.ts";

const PER_MILLION = 1_000_000;
/** Tokens that an API adds to each message. */
const TOKENS_PER_MESSAGE = 4;
const MIN_ANSWER_TOKENS = 50;

/** Counts with the o200k_base vocabulary, which is loaded at the first call. */
export async function countTokens(text: string): Promise<number> {
  return (await loadTokenCounter())(text);
}

async function promptTokens(messages: readonly Message[]): Promise<number> {
  const text = messages.map(({ content }) => (typeof content === "string" ? content : "")).join("\n");
  return (await countTokens(text)) + messages.length * TOKENS_PER_MESSAGE;
}

/** The usage of one request. Tokens are counted locally if the API reports none. */
export async function usageOf(
  { text, usage }: Pick<Completion, "text" | "usage">,
  messages: readonly Message[],
  { model, prices }: Pick<LlmSettings, "model" | "prices">,
): Promise<GenerationUsage> {
  const inputTokens = usage?.inputTokens ?? (await promptTokens(messages));
  const outputTokens = usage?.outputTokens ?? (await countTokens(text));
  const used = { model, requests: 1, inputTokens, outputTokens };
  if (prices === undefined) return used;
  const dollars = inputTokens * prices.inputPerMillion + outputTokens * prices.outputPerMillion;
  return { ...used, cost: dollars / PER_MILLION };
}

/** The tokens that an answer may have. @throws CemError `LLM_BUDGET_EXCEEDED` if too few are left for a program. */
export async function affordableTokens(
  messages: readonly Message[],
  spent: GenerationUsage | undefined,
  settings: Pick<LlmSettings, "model" | "prices"> & { budget: LlmBudget; maxTokens: number },
): Promise<number> {
  const { budget, maxTokens, model, prices } = settings;
  const prompt = await promptTokens(messages);
  const limits = [maxTokens];
  if (budget.tokens !== undefined) limits.push(budget.tokens - tokensOf(spent) - prompt);
  if (budget.cost !== undefined && prices !== undefined && prices.outputPerMillion > 0) {
    const left = budget.cost - (spent?.cost ?? 0) - (prompt * prices.inputPerMillion) / PER_MILLION;
    limits.push(Math.floor((left * PER_MILLION) / prices.outputPerMillion));
  }
  const affordable = Math.min(...limits);
  if (affordable >= Math.min(MIN_ANSWER_TOKENS, maxTokens)) return affordable;
  const bounds: string[] = [];
  if (budget.tokens !== undefined) bounds.push(`${budget.tokens.toLocaleString("en")} tokens`);
  if (budget.cost !== undefined) bounds.push(`$${budget.cost}`);
  const used = tokensOf(spent).toLocaleString("en");
  const message = `The next request to ${model} would exceed the task's budget of ${bounds.join(" or ")}: ${used} tokens are spent, its prompt has ${prompt.toLocaleString("en")}.`;
  const details = { ...budget, spentTokens: tokensOf(spent), promptTokens: prompt };
  throw new CemError("LLM_BUDGET_EXCEEDED", message, { details });
}

function tokensOf(spent: GenerationUsage | undefined): number {
  return (spent?.inputTokens ?? 0) + (spent?.outputTokens ?? 0);
}
