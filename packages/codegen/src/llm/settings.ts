import { CemError, type JsonObject, type ToolDefinition } from "@cem/core";
import { importFromProject } from "@cem/core/files";
import type * as openaiModule from "openai";

/** The API to call. `openai` is any service with a compatible Chat Completions API. */
export type LlmProvider = "openai" | "azure_openai" | "anthropic";

/** The prices of a model, in US dollars per million tokens. */
export interface LlmPrices {
  inputPerMillion: number;
  outputPerMillion: number;
}

/** The maximum that one task may use, over all its attempts. */
export interface LlmBudget {
  /** Input and output tokens together. */
  tokens?: number | undefined;
  /** US dollars. Has no effect without `prices`. */
  cost?: number | undefined;
}

/** Settings of {@link createLlmGenerator}. */
export interface LlmSettings {
  /**
   * The API to call.
   *
   * @defaultValue `openai`, which includes any service with a compatible Chat Completions API at `baseUrl`
   */
  provider?: LlmProvider | undefined;
  /** Name of the model in the API. */
  model: string;
  /** API key. Required unless `baseUrl` is set. */
  apiKey?: string | undefined;
  /**
   * URL of the API, to which `/chat/completions` is appended: `http://localhost:11434/v1`.
   *
   * @defaultValue the provider's own
   */
  baseUrl?: string | undefined;
  /** URL of the Azure resource: `https://<resource>.openai.azure.com`. Required for `azure_openai`. */
  azureEndpoint?: string | undefined;
  /**
   * Name of the Azure deployment.
   *
   * @defaultValue `model`
   */
  azureDeployment?: string | undefined;
  /** @defaultValue `2024-10-21` */
  azureApiVersion?: string | undefined;
  /**
   * Sampling temperature. Not sent to models that don't support it.
   *
   * @defaultValue 0.3
   */
  temperature?: number | undefined;
  /**
   * Maximum number of tokens of one answer.
   *
   * @defaultValue 2,000
   */
  maxTokens?: number | undefined;
  /**
   * Maximum time without data from the API, in milliseconds.
   *
   * @defaultValue 60,000
   */
  timeoutMs?: number | undefined;
  /**
   * Maximum number of retries of a request after a transient failure: rate limit, server error, broken connection.
   *
   * @defaultValue 2
   */
  maxRetries?: number | undefined;
  /** Prices of the model. If set, `usage` includes a `cost`. */
  prices?: LlmPrices | undefined;
  /**
   * The maximum that one task may use.
   *
   * @defaultValue unlimited
   */
  budget?: LlmBudget | undefined;
  /**
   * Maximum number of tokens of all tool descriptions in a prompt.
   *
   * @defaultValue 6,000
   */
  toolTokens?: number | undefined;
  /**
   * Checks the arguments of a call in an answer against the tool's schema. Valid calls need no type check.
   *
   * @defaultValue none: calls are checked like programs
   */
  acceptsArguments?: ((tool: ToolDefinition, args: JsonObject) => Promise<boolean>) | undefined;
}

const DEFAULT_AZURE_API_VERSION = "2024-10-21";

const BASE_URLS = { openai: "https://api.openai.com/v1", anthropic: "https://api.anthropic.com/v1/" };
const KEY_VARIABLES = {
  openai: "OPENAI_API_KEY",
  azure_openai: "AZURE_OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
};
/** A dummy key for services that need none, since the client requires one. */
const NO_KEY = "none";

/** @throws CemError `LLM_KEY_MISSING` or `LLM_ENDPOINT_MISSING`; `details.variable` is the environment variable. */
export function endpointOf(settings: LlmSettings) {
  const { provider = "openai", apiKey = NO_KEY, azureEndpoint: resource, baseUrl } = settings;
  if (settings.apiKey === undefined && (provider === "azure_openai" || baseUrl === undefined))
    throw new CemError("LLM_KEY_MISSING", `The API key of ${provider} is not set.`, {
      details: { provider, variable: KEY_VARIABLES[provider] },
    });
  if (provider !== "azure_openai") return { provider, baseUrl: baseUrl ?? BASE_URLS[provider], apiKey };
  if (resource === undefined && baseUrl === undefined)
    throw new CemError("LLM_ENDPOINT_MISSING", "The URL of the Azure OpenAI resource is not set.", {
      details: { provider, variable: "AZURE_OPENAI_ENDPOINT" },
    });
  return {
    provider,
    baseUrl: baseUrl ?? `${(resource ?? "").replace(/(?<!\/)\/+$/u, "")}/openai`,
    apiKey,
    deployment: settings.azureDeployment ?? settings.model,
    apiVersion: settings.azureApiVersion ?? DEFAULT_AZURE_API_VERSION,
  };
}

/** Reads no environment variable. @throws CemError `LLM_PACKAGE_MISSING`, or `FOLDER_UNTRUSTED` for its folder. */
export async function createClient(
  { provider, baseUrl, apiKey, apiVersion, deployment }: ReturnType<typeof endpointOf>,
  timeoutMs: number,
): Promise<openaiModule.OpenAI> {
  // Loaded with the first request, since it is large and optional.
  const openai = await import("openai").catch((cause: unknown) =>
    importFromProject<typeof openaiModule>("openai", cause, () => {
      const message =
        'The package "openai", which talks to the model\'s API, is not installed. Install it: npm install openai@7';
      return new CemError("LLM_PACKAGE_MISSING", message, { details: { package: "openai" }, cause });
    }),
  );
  const options = {
    apiKey,
    baseURL: baseUrl,
    timeout: timeoutMs,
    // The client's retry delays would count as inactivity of the API.
    maxRetries: 0,
    organization: null,
    project: null,
    logLevel: "off",
  } as const;
  if (provider !== "azure_openai") return new openai.OpenAI(options);
  return new openai.AzureOpenAI({ ...options, apiVersion, deployment });
}
