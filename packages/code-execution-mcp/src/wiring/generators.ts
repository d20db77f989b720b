import type { SchemaValidator } from "@cem/bridge";
import type { LlmSettings } from "@cem/codegen/llm";
import type { Config } from "@cem/config";
import type { CodeGenerator, JsonObject, SessionLog, ToolDefinition } from "@cem/core";
import { withProgressTasks } from "./progress-tasks.ts";

const MS_PER_SECOND = 1_000;

/**
 * The generator that the configuration asks for: rules, or a model with rules as its fallback.
 *
 * @param redact - Keeps values from a model. Rules run here and need none of it.
 */
export async function createGenerator(
  { llm }: Config,
  redact: (generator: CodeGenerator) => CodeGenerator,
  sessionLog?: SessionLog,
): Promise<CodeGenerator> {
  const { createRulesGenerator } = await import("@cem/codegen/rules");
  const rules = withProgressTasks(createRulesGenerator(), sessionLog);
  if (!llm.enabled) return rules;
  const { createFallbackGenerator } = await import("@cem/codegen/llm");
  return createFallbackGenerator(redact(await createConfiguredModel(llm)), rules);
}

/** The generator that asks the model, which is told of tools in full. */
export async function createConfiguredModel(llm: Config["llm"]): Promise<CodeGenerator> {
  const [{ createLlmGenerator }, { describeCalls }] = await Promise.all([
    import("@cem/codegen/llm"),
    import("@cem/tool-files"),
  ]);
  return createLlmGenerator({ ...llmSettings(llm), describeCalls, acceptsArguments });
}

let validator: Promise<SchemaValidator> | undefined;

/** Whether arguments satisfy the schema of a tool. Where the schema can't be used, that is not known. */
async function acceptsArguments({ inputSchema }: ToolDefinition, args: JsonObject): Promise<boolean> {
  validator ??= import("@cem/bridge").then(({ createSchemaValidator }) => createSchemaValidator());
  const check = await (await validator).prepare(inputSchema);
  return check.validated && check.check(args) === undefined;
}

/** Maps the configuration to settings of the model. */
function llmSettings(llm: Config["llm"]): LlmSettings {
  const { provider, model, temperature, maxRetries, baseUrl, priceInput, priceOutput } = llm;
  const { budgetTokens: tokens, budgetUsd: cost, toolTokens } = llm;
  const hasPrices = priceInput !== undefined && priceOutput !== undefined;
  return {
    provider,
    model,
    temperature,
    maxTokens: llm.maxCompletionTokens ?? llm.maxTokens,
    timeoutMs: llm.timeout * MS_PER_SECOND,
    maxRetries,
    toolTokens,
    apiKey: llm.apiKey?.reveal(),
    baseUrl,
    azureEndpoint: llm.azureEndpoint,
    azureDeployment: llm.azureDeploymentName,
    azureApiVersion: llm.azureApiVersion,
    prices: hasPrices ? { inputPerMillion: priceInput, outputPerMillion: priceOutput } : undefined,
    budget: tokens === undefined && cost === undefined ? undefined : { tokens, cost },
  };
}
