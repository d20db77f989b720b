import type { Troubles } from "./trouble.ts";

/** Errors of models that write code or compare meaning. */
export const MODEL_TROUBLES = {
  EMBEDDER_FAILED: {
    cause: "The model that compares tools by meaning failed; tools are searched by words.",
    wayOut: "Check the model's folder, or the provider's key and URL.",
  },
  EMBEDDER_MODEL_CHANGED: {
    cause: "A file of the model differs from the one that was pulled or that is known.",
    wayOut: "Check the mirror, then `cem model pull` again.",
  },
  EMBEDDER_MODEL_NOT_FOUND: {
    cause: "There is no model in that folder or under that name.",
    wayOut: "Correct `optimizations.embedding_model_dir`, or run `cem model pull`.",
  },
  EMBEDDER_PULL_FAILED: {
    cause: "The model could not be downloaded or kept.",
    wayOut: "Name a mirror in `optimizations.model_mirror`, or a folder that can be written.",
  },
  LLM_ANSWER_UNUSABLE: {
    cause: "The model answered with neither code nor a call, or its answer was cut.",
    wayOut: "Raise `llm.max_tokens`, or take a stronger model.",
  },
  LLM_BUDGET_EXCEEDED: {
    cause: "The next request would go beyond the task's budget.",
    wayOut: "Raise `llm.budget_tokens` or `llm.budget_usd`.",
  },
  LLM_ENDPOINT_MISSING: {
    cause: "The provider is Azure, and no endpoint is set.",
    wayOut: "Set `llm.azure_endpoint` (`AZURE_OPENAI_ENDPOINT`).",
  },
  LLM_FAILED: { cause: "The model's API answered with an error of its own.", wayOut: "Try again later." },
  LLM_KEY_MISSING: {
    cause: "`llm.enabled` is on, and the provider's key is not set.",
    wayOut: "Set `OPENAI_API_KEY` or `AZURE_OPENAI_API_KEY`.",
  },
  LLM_KEY_REFUSED: {
    cause: "The API refused the key.",
    wayOut: "`cem doctor --config` shows where the key comes from.",
  },
  LLM_PACKAGE_MISSING: {
    cause: "The optional package `openai` is not installed.",
    wayOut: "Run `npm install openai@7`.",
  },
  LLM_RATE_LIMITED: {
    cause: "The API's rate limit held after all retries.",
    wayOut: "Wait, or raise `llm.max_retries`.",
  },
  LLM_REQUEST_REFUSED: {
    cause: "The API does not take the request: an unknown model, deployment or parameter.",
    wayOut: "Check `llm.model`, or on Azure `llm.azure_deployment_name` and `llm.azure_api_version`.",
  },
  LLM_TIMED_OUT: { cause: "The API did not answer in time.", wayOut: "Raise `llm.timeout`." },
  LLM_UNREACHABLE: {
    cause: "The API's address does not answer.",
    wayOut: "Check `llm.base_url` or `llm.azure_endpoint`, and that the service runs.",
  },
  TYPE_CHECKER_DISPOSED: {
    cause: "A check was asked of a type checker that was disposed.",
    wayOut: "Create another one.",
  },
} satisfies Troubles;
