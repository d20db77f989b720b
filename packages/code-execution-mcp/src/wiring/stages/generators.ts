import type { SchemaValidator } from "@cem/bridge";
import type { LlmSettings } from "@cem/codegen/llm";
import type { Config, LoadedConfig } from "@cem/config";
import type { CodeGenerator, JsonObject, Redactor, SessionLog, ToolDefinition } from "@cem/core";
import { hintFor } from "@cem/core/errors";
import type { Log } from "../log.ts";
import { withProgressTasks } from "./progress-tasks.ts";

const MS_PER_SECOND = 1_000;
/** The settings that decide whether a model is asked, and which. */
const OF_MODEL = /^llm\.(?:api_key|azure_endpoint|base_url|enabled|provider)$/u;

/**
 * The configured generator: rules, or a model with rules as its fallback.
 *
 * @param redact - Hides values from a model. Rules run locally and don't need it.
 */
export async function createGenerator(
  { config: { llm }, trust }: Pick<LoadedConfig, "config" | "trust">,
  redact: (generator: CodeGenerator) => CodeGenerator,
  {
    sessionLog,
    redactor,
    log,
  }: { sessionLog?: SessionLog | undefined; redactor?: Redactor | undefined; log: Log },
): Promise<CodeGenerator> {
  const { createRulesGenerator } = await import("@cem/codegen/rules");
  const rules = withProgressTasks(createRulesGenerator(), sessionLog, redactor);
  if (!llm.enabled)
    return trust.held.some(({ name }) => OF_MODEL.test(name)) ? withHeldModel(rules, trust.folder) : rules;
  const { createFallbackGenerator } = await import("@cem/codegen/llm");
  return createFallbackGenerator(
    redact(await createConfiguredModel(llm)),
    rules,
    ({ code, message }, instead, { session }) => {
      const outcome =
        instead.status === "generated"
          ? `Rules wrote the code instead: ${redactor?.tokenize(instead.code, { session, isWritten: true }) ?? instead.code}`
          : "Rules could not, either.";
      log("warning", `The model wrote no code (${code}): ${message} ${outcome}`);
    },
  );
}

/** Adds to the rules' code and refusals that a configured model is held back. */
async function withHeldModel(rules: CodeGenerator, folder: string): Promise<CodeGenerator> {
  const { folderUntrusted } = await import("@cem/config");
  const { code, message, details } = folderUntrusted("The language model", folder);
  const note = [message, hintFor({ code, message, details })].join(" ");
  return {
    ...rules,
    async generate(request) {
      const written = await rules.generate(request);
      if (written.status === "generated") return { ...written, notes: [...(written.notes ?? []), note] };
      const steps = written.steps.map((step, index, { length }) =>
        index === length - 1 ? { ...step, hint: `${step.hint} ${note}` } : step,
      );
      return { ...written, steps };
    },
  };
}

/** The generator that asks the model, with full descriptions of tools in the prompt. */
export async function createConfiguredModel(llm: Config["llm"]): Promise<CodeGenerator> {
  const { createLlmGenerator } = await import("@cem/codegen/llm");
  return createLlmGenerator({ ...llmSettings(llm), acceptsArguments });
}

let validator: Promise<SchemaValidator> | undefined;

/** Whether arguments satisfy the schema of a tool; `undefined` if the schema can't be used. */
async function acceptsArguments({ inputSchema }: ToolDefinition, args: JsonObject): Promise<boolean> {
  validator ??= import("@cem/bridge").then(({ createSchemaValidator }) => createSchemaValidator());
  const check = await (await validator).prepare(inputSchema);
  return check.validated && check.check(args) === undefined;
}

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
