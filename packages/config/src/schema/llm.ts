import * as z from "zod/mini";
import { atLeastIfAny, atMost, atMostIfAny, needsYes, oneOf } from "./risk.ts";
import { choice, count, flag, number, secretText, setting, text, whole, withDefault } from "./setting.ts";

/** Settings of the language model. */
export const llmSettings = {
  enabled: setting(flag(false), "Whether a model writes code. An API key alone does not enable it.", {
    variables: ["LLM_ENABLED", "LLM_CODE_GENERATION"],
    risk: needsYes(["reveal", "spend"], "tasks, tools and data are sent to a model, which costs money", {
      isStricter: oneOf(false),
    }),
  }),
  provider: setting(
    choice(["openai", "azure_openai", "anthropic"], "openai"),
    "Provider of the model. openai with llm.base_url is any service with the same API. When it is unset and AZURE_OPENAI_ENDPOINT is set: azure_openai.",
    {
      variables: ["LLM_PROVIDER"],
      risk: needsYes(["reveal", "spend"], "tasks, tools and data are sent to that provider", {
        when: "model",
      }),
    },
  ),
  model: setting(withDefault(text, "gpt-4o-mini"), "Name of the model.", {
    variables: ["LLM_MODEL"],
    risk: needsYes(["spend"], "that model is asked, at its price", { when: "model" }),
  }),
  apiKey: setting(z.optional(secretText), "API key of the provider. Better set in the environment.", {
    variables: [
      { name: "OPENAI_API_KEY", provider: "openai" },
      { name: "AZURE_OPENAI_API_KEY", provider: "azure_openai" },
      { name: "ANTHROPIC_API_KEY", provider: "anthropic" },
      "LLM_API_KEY",
    ],
    secret: true,
    risk: needsYes(["reveal"], "tasks, tools and data are sent under the account of that key", {
      when: "model",
    }),
  }),
  baseUrl: setting(
    z.optional(text),
    "URL of an OpenAI-compatible service: http://localhost:11434/v1 for Ollama. It needs no key.",
    {
      variables: ["LLM_BASE_URL"],
      risk: needsYes(["reach", "reveal"], "tasks, tools and data are sent to that address", {
        when: "model",
      }),
    },
  ),
  temperature: setting(
    withDefault(number(0, 2), 0.3),
    "Sampling temperature. It is not sent to models that accept none.",
    { variables: ["LLM_TEMPERATURE"], risk: "none" },
  ),
  maxTokens: setting(count(10_000_000, 2_000), "Maximum tokens of an answer.", {
    variables: ["LLM_MAX_TOKENS"],
    risk: needsYes(["spend"], "an answer of the model may have that many tokens", {
      isStricter: atMost,
      when: "model",
    }),
  }),
  maxCompletionTokens: setting(
    z.optional(whole(1, 10_000_000)),
    "The same, with precedence over max_tokens. Which of the two parameters a model accepts is detected.",
    {
      risk: needsYes(["spend"], "an answer of the model may have that many tokens", {
        isStricter: atMost,
        when: "model",
      }),
    },
  ),
  timeout: setting(
    withDefault(number(0.1, 3_600), 60),
    "Timeout without any data from the service, in seconds.",
    {
      variables: ["LLM_TIMEOUT"],
      risk: needsYes(["spend"], "the model may be silent for that many seconds", {
        isStricter: atMost,
        when: "model",
      }),
    },
  ),
  maxRetries: setting(
    withDefault(whole(0, 20), 2),
    "Maximum retries of a request after the service was busy, failed or disconnected.",
    {
      variables: ["LLM_MAX_RETRIES"],
      risk: needsYes(["spend"], "a request to the model is repeated that often", {
        isStricter: atMost,
        when: "model",
      }),
    },
  ),
  maxRepairs: setting(
    withDefault(whole(0, 10), 2),
    "Maximum repairs by the model of code that was refused or failed.",
    {
      risk: needsYes(["spend"], "the model is asked that often to repair its code", {
        isStricter: atMost,
        when: "model",
      }),
    },
  ),
  toolTokens: setting(
    count(1_000_000, 6_000),
    "Maximum tokens of tool descriptions in a prompt. Tools that are not close to the task are described only up to 1,500 of them, where its words are clear.",
    {
      risk: needsYes(["spend"], "each request tells the model that many tokens of tools", {
        isStricter: atMost,
        when: "model",
      }),
    },
  ),
  dataFacts: setting(
    flag(true),
    "Whether the model is told facts about data: columns of tables, the first lines of files in the workspace that the task names.",
    {
      risk: needsYes(["reveal"], "the model is told of data in the workspace", {
        isStricter: oneOf(false),
        when: "model",
      }),
    },
  ),
  priceInput: setting(
    z.optional(number(0, 1_000_000)),
    "US dollars per million input tokens. With llm.price_output, results report their cost.",
    {
      risk: needsYes(["spend"], "the budget counts that price", { isStricter: atLeastIfAny, when: "model" }),
    },
  ),
  priceOutput: setting(z.optional(number(0, 1_000_000)), "US dollars per million output tokens.", {
    risk: needsYes(["spend"], "the budget counts that price", { isStricter: atLeastIfAny, when: "model" }),
  }),
  budgetTokens: setting(
    z.optional(whole(1, 1_000_000_000)),
    "Maximum input and output tokens for one task, with all attempts.",
    {
      risk: needsYes(["spend"], "a task may use that many tokens", {
        isStricter: atMostIfAny,
        when: "model",
      }),
    },
  ),
  budgetUsd: setting(
    z.optional(number(0, 1_000_000)),
    "Maximum US dollars for one task. Needs both prices.",
    {
      risk: needsYes(["spend"], "a task may cost that many US dollars", {
        isStricter: atMostIfAny,
        when: "model",
      }),
    },
  ),
  azureEndpoint: setting(z.optional(text), "URL of the Azure OpenAI resource.", {
    variables: ["AZURE_OPENAI_ENDPOINT"],
    risk: needsYes(["reach", "reveal"], "tasks, tools and data are sent to that address", { when: "model" }),
  }),
  azureDeploymentName: setting(z.optional(text), "Deployment of the model on Azure. Default: llm.model.", {
    variables: [
      "AZURE_OPENAI_CHAT_DEPLOYMENT_NAME",
      "AZURE_OPENAI_DEPLOYMENT_NAME",
      "AZURE_OPENAI_CHAT_DEPLOYMENT",
    ],
    risk: needsYes(["spend"], "that deployment is asked, at its price", { when: "model" }),
  }),
  azureApiVersion: setting(z.optional(text), "Version of the Azure API.", {
    variables: ["AZURE_OPENAI_API_VERSION"],
    risk: "none",
  }),
  azureEmbedderName: setting(
    z.optional(text),
    "Deployment of the embedding model on Azure. Enables semantic search of tools, whose texts are sent there.",
    {
      variables: ["AZURE_OPENAI_EMBEDDER_NAME"],
      risk: needsYes(
        ["reveal", "spend"],
        "texts of tools and tasks are sent to that embedding model, which costs money",
      ),
    },
  ),
  azureEmbedderVersion: setting(z.optional(text), "Version of the Azure API for embeddings.", {
    variables: ["AZURE_OPENAI_EMBEDDER_VERSION"],
    risk: "none",
  }),
  embeddingModel: setting(
    z.optional(text),
    "Embedding model of OpenAI, or at llm.base_url. Enables semantic search of tools, whose texts are sent there.",
    {
      risk: needsYes(
        ["reveal", "spend"],
        "texts of tools and tasks are sent to that embedding model, which costs money",
      ),
    },
  ),
};
