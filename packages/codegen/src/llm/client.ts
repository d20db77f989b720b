import { CemError } from "@cem/core";
import type { AzureOpenAI, OpenAI } from "openai";
import type { Endpoint } from "./settings.ts";

interface OpenAiModule {
  OpenAI: typeof OpenAI;
  AzureOpenAI: typeof AzureOpenAI;
}

/** Makes the client of an endpoint. Nothing of the process's environment reaches it. */
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

/** It is large and seldom needed, so it is loaded with the first request. */
async function loadOpenAi(): Promise<OpenAiModule> {
  try {
    return await import("openai");
  } catch (error) {
    throw new CemError(
      "LLM_PACKAGE_MISSING",
      'A model is asked through the package "openai", which is not installed. Install it: npm install openai@7',
      { cause: error },
    );
  }
}
