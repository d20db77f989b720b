import { CemError } from "@cem/core";
import type { AzureOpenAI, OpenAI } from "openai";
import type { Endpoint } from "./settings.ts";

interface OpenAiModule {
  OpenAI: typeof OpenAI;
  AzureOpenAI: typeof AzureOpenAI;
}

/**
 * Creates the API client of an endpoint. It reads no environment variable.
 *
 * @throws CemError `LLM_PACKAGE_MISSING` when the optional package `openai` is not installed.
 */
export async function createClient(
  { provider, baseUrl, apiKey, apiVersion, deployment }: Endpoint,
  bounds: { timeoutMs: number; maxRetries: number },
): Promise<OpenAI> {
  const openai = await loadOpenAi();
  const options = {
    apiKey,
    baseURL: baseUrl,
    timeout: bounds.timeoutMs,
    maxRetries: bounds.maxRetries,
    organization: null,
    project: null,
    logLevel: "off",
  } as const;
  if (provider !== "azure_openai") return new openai.OpenAI(options);
  return new openai.AzureOpenAI({ ...options, apiVersion, deployment });
}

/** Loads the client library with the first request, since it is large and optional. */
async function loadOpenAi(): Promise<OpenAiModule> {
  try {
    return await import("openai");
  } catch (error) {
    throw new CemError(
      "LLM_PACKAGE_MISSING",
      'The package "openai", which talks to the model\'s API, is not installed. Install it: npm install openai@7',
      { details: { package: "openai" }, cause: error },
    );
  }
}
