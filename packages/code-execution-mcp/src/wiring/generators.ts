import type { LlmSettings } from "@cem/codegen/llm";
import type { Config } from "@cem/config";
import type { CodeGenerator, SessionLog } from "@cem/core";
import { withProgressTasks } from "./progress-tasks.ts";

const MS_PER_SECOND = 1_000;

/** The generator that the configuration asks for: rules, or a model with rules as its fallback. */
export async function createGenerator({ llm }: Config, sessionLog?: SessionLog): Promise<CodeGenerator> {
  const { createRulesGenerator } = await import("@cem/codegen/rules");
  const rules = withProgressTasks(createRulesGenerator(), sessionLog);
  if (!llm.enabled) return rules;
  const { createFallbackGenerator, createLlmGenerator } = await import("@cem/codegen/llm");
  return createFallbackGenerator(createLlmGenerator(llmSettings(llm)), rules);
}

/** Maps the configuration to settings of the model. */
function llmSettings(llm: Config["llm"]): LlmSettings {
  const { provider, model, temperature, maxRetries, baseUrl, priceInput, priceOutput } = llm;
  const { budgetTokens: tokens, budgetUsd: cost } = llm;
  const hasPrices = priceInput !== undefined && priceOutput !== undefined;
  return {
    provider,
    model,
    temperature,
    maxTokens: llm.maxCompletionTokens ?? llm.maxTokens,
    timeoutMs: llm.timeout * MS_PER_SECOND,
    maxRetries,
    apiKey: llm.apiKey?.reveal(),
    baseUrl,
    azureEndpoint: llm.azureEndpoint,
    azureDeployment: llm.azureDeploymentName,
    azureApiVersion: llm.azureApiVersion,
    prices: hasPrices ? { inputPerMillion: priceInput, outputPerMillion: priceOutput } : undefined,
    budget: tokens === undefined && cost === undefined ? undefined : { tokens, cost },
  };
}
