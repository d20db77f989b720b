import * as z from "zod/mini";
import { choice, count, flag, number, secretText, setting, text, whole, withDefault } from "./setting.ts";

/** Settings of the language model. */
export const llmSettings = {
  enabled: setting(flag(false), "Whether a model writes code. An API key alone does not enable it."),
  provider: setting(
    choice(["openai", "azure_openai", "anthropic"], "openai"),
    "Provider of the model. openai with llm.base_url is any service with the same API. When it is unset and AZURE_OPENAI_ENDPOINT is set: azure_openai.",
  ),
  model: setting(withDefault(text, "gpt-4o-mini"), "Name of the model."),
  apiKey: setting(z.optional(secretText), "API key of the provider. Better set in the environment.", {
    secret: true,
  }),
  baseUrl: setting(
    z.optional(text),
    "URL of an OpenAI-compatible service: http://localhost:11434/v1 for Ollama. It needs no key.",
  ),
  temperature: setting(
    withDefault(number(0, 2), 0.3),
    "Sampling temperature. It is not sent to models that accept none.",
  ),
  maxTokens: setting(count(10_000_000, 2_000), "Maximum tokens of an answer."),
  maxCompletionTokens: setting(
    z.optional(whole(1, 10_000_000)),
    "The same, with precedence over max_tokens. Which of the two parameters a model accepts is detected.",
  ),
  timeout: setting(
    withDefault(number(0.1, 3_600), 60),
    "Timeout without any data from the service, in seconds.",
  ),
  maxRetries: setting(
    withDefault(whole(0, 20), 2),
    "Maximum retries of a request after the service was busy, failed or disconnected.",
  ),
  maxRepairs: setting(
    withDefault(whole(0, 10), 2),
    "Maximum repairs by the model of code that was refused or failed.",
  ),
  toolTokens: setting(
    count(1_000_000, 6_000),
    "Maximum tokens of the tools that the model is told of. A catalog that fits is told as a whole.",
  ),
  dataFacts: setting(
    flag(true),
    "Whether the model is told facts about data: columns of tables, the first lines of files in the workspace that the task names.",
  ),
  priceInput: setting(
    z.optional(number(0, 1_000_000)),
    "US dollars per million input tokens. With llm.price_output, results report their cost.",
  ),
  priceOutput: setting(z.optional(number(0, 1_000_000)), "US dollars per million output tokens."),
  budgetTokens: setting(
    z.optional(whole(1, 1_000_000_000)),
    "Maximum input and output tokens for one task, with all attempts.",
  ),
  budgetUsd: setting(z.optional(number(0, 1_000_000)), "Maximum US dollars for one task. Needs both prices."),
  azureEndpoint: setting(z.optional(text), "URL of the Azure OpenAI resource."),
  azureDeploymentName: setting(z.optional(text), "Deployment of the model on Azure. Default: llm.model."),
  azureApiVersion: setting(z.optional(text), "Version of the Azure API."),
  azureEmbedderName: setting(
    z.optional(text),
    "Deployment of the embedding model on Azure. Enables semantic search of tools, whose texts are sent there.",
  ),
  azureEmbedderVersion: setting(z.optional(text), "Version of the Azure API for embeddings."),
  embeddingModel: setting(
    z.optional(text),
    "Embedding model of OpenAI, or at llm.base_url. Enables semantic search of tools, whose texts are sent there.",
  ),
};
