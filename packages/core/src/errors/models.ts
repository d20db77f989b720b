import { textOr, type ErrorEntries } from "./entry.ts";

/** Errors of models that write code or create embeddings, and of personal data. */
export const MODEL_ERRORS = {
  EMBEDDER_FAILED: {
    meaning: "The model that compares tools by meaning failed; tools are searched by words.",
    fix: "Check the model's folder, or the provider's key and URL.",
  },
  EMBEDDER_MODEL_NOT_FOUND: {
    meaning: "There is no model in that folder.",
    fix: "Correct `optimizations.embedding_model_dir`.",
    hint: "fix",
  },
  LLM_ANSWER_UNUSABLE: {
    meaning:
      "The model answered with neither code nor a call, its answer was cut, or what answered is not a model.",
    fix: "Raise `llm.max_tokens`, take a stronger model, or correct `llm.base_url`.",
    hint: ({ maxTokens }) => (maxTokens === undefined ? undefined : "Allow more with llm.max_tokens."),
  },
  LLM_BUDGET_EXCEEDED: {
    meaning: "The next request to the model would exceed the task's budget.",
    fix: "Allow more with `llm.budget_tokens` or `llm.budget_usd`.",
    hint: "fix",
  },
  LLM_ENDPOINT_MISSING: {
    meaning: "The provider is Azure, and no endpoint is set.",
    fix: "Set `llm.azure_endpoint` (`AZURE_OPENAI_ENDPOINT`).",
    hint: "fix",
  },
  LLM_FAILED: { meaning: "The model's API failed.", fix: "Try again later." },
  LLM_KEY_MISSING: {
    meaning: "`llm.enabled` is on, and the provider's key is not set.",
    fix: "Set `OPENAI_API_KEY` or `AZURE_OPENAI_API_KEY`.",
    hint: ({ variable }) => `Set ${textOr(variable, "the provider's variable")} or llm.api_key.`,
  },
  LLM_KEY_REFUSED: {
    meaning: "The model's API refused the key.",
    fix: "See where the key comes from with `cem doctor --config`.",
    hint: "fix",
  },
  LLM_PACKAGE_MISSING: {
    meaning: "The optional package `openai` is not installed.",
    fix: "Run `npm install openai@7`.",
  },
  LLM_RATE_LIMITED: {
    meaning: "The API's rate limit held after all retries.",
    fix: "Wait, or raise `llm.max_retries`.",
  },
  LLM_REQUEST_REFUSED: {
    meaning: "The API does not take the request: an unknown model, deployment or parameter.",
    fix: "Check `llm.model`, or on Azure `llm.azure_deployment_name` and `llm.azure_api_version`.",
  },
  LLM_TIMED_OUT: {
    meaning: "The model's API did not answer in time.",
    fix: "Allow more with `llm.timeout`.",
    hint: "fix",
  },
  LLM_UNREACHABLE: {
    meaning: "The model's API can't be reached.",
    fix: "Check `llm.base_url`, or on Azure `llm.azure_endpoint`.",
    hint: "fix",
  },
  TYPE_CHECKER_DISPOSED: {
    meaning: "The type checker was disposed before the check.",
    fix: "Create another one.",
  },
  VAULT_UNREADABLE: {
    meaning: "The file of a session's values was written with another key, or is damaged.",
    fix: "Set `CEM_VAULT_KEY` to the key it was written with, after a comma where there is a newer one; or move the file aside: tokens of its values then stand for nothing.",
    hint: "fix",
  },
  VAULT_KEY_INVALID: {
    meaning: "Values are to be kept on disk, and the key is missing or has the wrong length.",
    fix: "Set `CEM_VAULT_KEY` to 32 bytes in hex, such as from `openssl rand -hex 32`.",
    hint: "fix",
  },
  RECOGNIZER_FAILED: {
    meaning: "The model that finds names is not there, or its package is missing.",
    fix: "Install the package `@huggingface/transformers` and set `privacy.names_model` to a folder with a model.",
    hint: "fix",
  },
  AUDIT_BROKEN: {
    meaning: "Lines of the audit log are missing or were changed.",
    fix: "Take the log for tampered with from that line on. Keep the last hash elsewhere, and check with `--expect`.",
  },
  AUDIT_UNWRITABLE: {
    meaning: "The audit log can't be written.",
    fix: "Set `logging.audit_file` to a file that can be written.",
    hint: "fix",
  },
} satisfies ErrorEntries;
