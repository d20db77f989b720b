import * as z from "zod/mini";
import { atLeastIfAny, atMostIfAny, oneOf } from "./risk.ts";
import {
  choice,
  count,
  flag,
  harmless,
  limit,
  number,
  secretText,
  setting,
  text,
  whole,
  withDefault,
} from "./setting.ts";

export const llmSettings = {
  enabled: setting(
    flag(false),
    "Whether a model writes code: tasks, tools and data are sent to it, which costs money. An API key alone does not enable it.",
    { variables: ["LLM_ENABLED", "LLM_CODE_GENERATION"], isStricter: oneOf(false) },
  ),
  provider: setting(
    choice(["openai", "azure_openai", "anthropic"], "openai"),
    "Provider of the model, which tasks, tools and data are sent to. openai with llm.base_url is any service with the same API. When it is unset and AZURE_OPENAI_ENDPOINT is set: azure_openai.",
    { variables: ["LLM_PROVIDER"] },
  ),
  model: setting(withDefault(text, "gpt-4o-mini"), "Name of the model.", { variables: ["LLM_MODEL"] }),
  apiKey: setting(z.optional(secretText), "API key of the provider. Better set in the environment.", {
    variables: [
      { name: "OPENAI_API_KEY", provider: "openai" },
      { name: "AZURE_OPENAI_API_KEY", provider: "azure_openai" },
      { name: "ANTHROPIC_API_KEY", provider: "anthropic" },
      "LLM_API_KEY",
    ],
  }),
  baseUrl: setting(
    z.optional(text),
    "URL of an OpenAI-compatible service, which tasks, tools and data are sent to: http://localhost:11434/v1 for Ollama. It needs no key.",
    { variables: ["LLM_BASE_URL"] },
  ),
  temperature: harmless(
    withDefault(number(0, 2), 0.3),
    "Sampling temperature. It is not sent to models that accept none.",
    ["LLM_TEMPERATURE"],
  ),
  maxTokens: limit(count(10_000_000, 2_000), "Maximum tokens of an answer.", ["LLM_MAX_TOKENS"]),
  maxCompletionTokens: limit(
    z.optional(whole(1, 10_000_000)),
    "The same, with precedence over max_tokens. Which of the two parameters a model accepts is detected.",
  ),
  timeout: limit(
    withDefault(number(0.1, 3_600), 60),
    "Timeout without any data from the service, in seconds.",
    ["LLM_TIMEOUT"],
  ),
  maxRetries: limit(
    withDefault(whole(0, 20), 2),
    "Maximum retries of a request after the service was busy, failed or disconnected.",
    ["LLM_MAX_RETRIES"],
  ),
  maxRepairs: limit(
    withDefault(whole(0, 10), 2),
    "Maximum repairs by the model of code that was refused or failed.",
  ),
  toolTokens: limit(
    count(1_000_000, 6_000),
    "Maximum tokens of tools in a prompt. Those that are not close to the task are told of only up to 1,890 of them, many by name alone; the model can ask for their descriptions.",
  ),
  dataFacts: setting(
    flag(true),
    "Whether the model is told facts about data: columns of tables, the first lines of files in the workspace that the task names.",
    { isStricter: oneOf(false) },
  ),
  priceInput: setting(
    z.optional(number(0, 1_000_000)),
    "US dollars per million input tokens. With llm.price_output, results report their cost.",
    { isStricter: atLeastIfAny },
  ),
  priceOutput: setting(z.optional(number(0, 1_000_000)), "US dollars per million output tokens.", {
    isStricter: atLeastIfAny,
  }),
  budgetTokens: setting(
    z.optional(whole(1, 1_000_000_000)),
    "Maximum input and output tokens for one task, with all attempts.",
    { isStricter: atMostIfAny },
  ),
  budgetUsd: setting(
    z.optional(number(0, 1_000_000)),
    "Maximum US dollars for one task. Needs both prices.",
    { isStricter: atMostIfAny },
  ),
  azureEndpoint: setting(
    z.optional(text),
    "URL of the Azure OpenAI resource, which tasks, tools and data are sent to.",
    { variables: ["AZURE_OPENAI_ENDPOINT"] },
  ),
  azureDeploymentName: setting(z.optional(text), "Deployment of the model on Azure. Default: llm.model.", {
    variables: [
      "AZURE_OPENAI_CHAT_DEPLOYMENT_NAME",
      "AZURE_OPENAI_DEPLOYMENT_NAME",
      "AZURE_OPENAI_CHAT_DEPLOYMENT",
    ],
  }),
  azureApiVersion: harmless(z.optional(text), "Version of the Azure API.", ["AZURE_OPENAI_API_VERSION"]),
  azureEmbedderName: setting(
    z.optional(text),
    "Deployment of the embedding model on Azure. Enables semantic search of tools, whose texts are sent there.",
    { variables: ["AZURE_OPENAI_EMBEDDER_NAME"] },
  ),
  azureEmbedderVersion: harmless(z.optional(text), "Version of the Azure API for embeddings.", [
    "AZURE_OPENAI_EMBEDDER_VERSION",
  ]),
  embeddingModel: setting(
    z.optional(text),
    "Embedding model of OpenAI, or at llm.base_url. Enables semantic search of tools, whose texts are sent there.",
  ),
};
