import { createRulesGenerator } from "@cem/codegen/rules";
import { createFallbackGenerator, createLlmGenerator } from "@cem/codegen/llm";
import type { LlmSettings } from "@cem/codegen/llm";
import type { Config } from "@cem/config";
import type { CodeGenerator } from "@cem/core";

const MS_PER_SECOND = 1_000;

/** Who writes the code, as the configuration wants it: a model where one is switched on, else and failing that rules. */
export function createGenerator({ llm }: Config): CodeGenerator {
  const rules = createRulesGenerator();
  return llm.enabled ? createFallbackGenerator(createLlmGenerator(llmSettings(llm)), rules) : rules;
}

/** The configuration in the model's terms. */
function llmSettings(llm: Config["llm"]): LlmSettings {
  const { apiKey, azureApiVersion, azureDeploymentName, azureEndpoint, baseUrl, budgetTokens, budgetUsd } =
    llm;
  const { priceInput, priceOutput } = llm;
  const budget = {
    ...(budgetTokens !== undefined && { tokens: budgetTokens }),
    ...(budgetUsd !== undefined && { cost: budgetUsd }),
  };
  return {
    provider: llm.provider,
    model: llm.model,
    temperature: llm.temperature,
    maxTokens: llm.maxCompletionTokens ?? llm.maxTokens,
    timeoutMs: llm.timeout * MS_PER_SECOND,
    maxRetries: llm.maxRetries,
    ...(apiKey !== undefined && { apiKey: apiKey.reveal() }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(azureEndpoint !== undefined && { azureEndpoint }),
    ...(azureDeploymentName !== undefined && { azureDeployment: azureDeploymentName }),
    ...(azureApiVersion !== undefined && { azureApiVersion }),
    ...(priceInput !== undefined &&
      priceOutput !== undefined && {
        prices: { inputPerMillion: priceInput, outputPerMillion: priceOutput },
      }),
    ...(Object.keys(budget).length > 0 && { budget }),
  };
}
