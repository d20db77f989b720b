import { CemError } from "@cem/core";

export type LlmProvider = "openai" | "azure_openai" | "anthropic";

/** What a token costs, in US dollars for a million. */
export interface LlmPrices {
  inputPerMillion: number;
  outputPerMillion: number;
}

/** What one task may cost, over all its tries. */
export interface LlmBudget {
  /** Tokens read and written. */
  tokens?: number | undefined;
  /** US dollars. Needs `prices`. */
  cost?: number | undefined;
}

export interface LlmSettings {
  /** Default: `openai`, which is also any service that speaks its Chat Completions API at `baseUrl`. */
  provider?: LlmProvider | undefined;
  model: string;
  /** Not needed for a service of your own at `baseUrl`. */
  apiKey?: string | undefined;
  /** URL of the API, ending where `/chat/completions` follows: `http://localhost:11434/v1`. Default: the provider's. */
  baseUrl?: string | undefined;
  /** `https://<resource>.openai.azure.com`. Needed for `azure_openai`. */
  azureEndpoint?: string | undefined;
  /** Default: `model`. */
  azureDeployment?: string | undefined;
  azureApiVersion?: string | undefined;
  /** Left out for models that take none, and for good once the API refuses it. Default: 0.3. */
  temperature?: number | undefined;
  /** Most tokens of one answer. Default: 2,000. */
  maxTokens?: number | undefined;
  /** How long the API may be silent, in milliseconds. Default: 60,000. */
  timeoutMs?: number | undefined;
  /** How often a request is made again after the API was busy, failed or broke off. Default: 2. */
  maxRetries?: number | undefined;
  prices?: LlmPrices | undefined;
  /** Default: no bound. */
  budget?: LlmBudget | undefined;
}

/** Where requests go, and with what key. */
export interface Endpoint {
  provider: LlmProvider;
  baseUrl: string;
  apiKey: string;
  deployment?: string | undefined;
  apiVersion?: string | undefined;
}

export const DEFAULT_TIMEOUT_MS = 60_000;
export const DEFAULT_MAX_RETRIES = 2;
export const DEFAULT_MAX_TOKENS = 2_000;
export const DEFAULT_TEMPERATURE = 0.3;
const DEFAULT_AZURE_API_VERSION = "2024-10-21";

const BASE_URLS = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1/",
};
const KEY_VARIABLES = {
  openai: "OPENAI_API_KEY",
  azure_openai: "AZURE_OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
};
/** Services of one's own want no key, the client does. */
const NO_KEY = "none";

/** @throws CemError `LLM_KEY_MISSING`, `LLM_ENDPOINT_MISSING`. */
export function endpointOf(settings: LlmSettings): Endpoint {
  const { provider = "openai", apiKey, baseUrl } = settings;
  if (provider === "azure_openai") return azureEndpoint(settings);
  if (apiKey === undefined && baseUrl === undefined) throw keyMissing(provider);
  return { provider, baseUrl: baseUrl ?? BASE_URLS[provider], apiKey: apiKey ?? NO_KEY };
}

function azureEndpoint(settings: LlmSettings): Endpoint {
  const { apiKey, azureApiVersion, azureDeployment, azureEndpoint: resource, baseUrl, model } = settings;
  if (apiKey === undefined) throw keyMissing("azure_openai");
  if (resource === undefined && baseUrl === undefined) {
    throw new CemError(
      "LLM_ENDPOINT_MISSING",
      "Azure OpenAI needs the URL of its resource. Set AZURE_OPENAI_ENDPOINT or llm.azure_endpoint.",
    );
  }
  return {
    provider: "azure_openai",
    baseUrl: baseUrl ?? `${(resource ?? "").replace(/\/+$/u, "")}/openai`,
    apiKey,
    deployment: azureDeployment ?? model,
    apiVersion: azureApiVersion ?? DEFAULT_AZURE_API_VERSION,
  };
}

function keyMissing(provider: LlmProvider): CemError {
  const variable = KEY_VARIABLES[provider];
  return new CemError("LLM_KEY_MISSING", `${provider} needs a key. Set ${variable}, or llm.api_key.`, {
    details: { provider, variable },
  });
}
