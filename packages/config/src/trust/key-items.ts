import type { Origin } from "../layer.ts";
import type { Config } from "../schema.ts";
import { type TrustItem, trustItem } from "./trust-item.ts";

type Llm = Config["llm"];

/** The addresses that requests go to where no setting names one. */
const PROVIDER_ADDRESSES: Readonly<Record<Llm["provider"], string | undefined>> = {
  openai: "https://api.openai.com",
  anthropic: "https://api.anthropic.com",
  azure_openai: undefined,
};
/** The providers whose own address a key in a variable is for. */
const PROVIDER_OF_VARIABLE: Readonly<Record<string, Llm["provider"]>> = {
  OPENAI_API_KEY: "openai",
  ANTHROPIC_API_KEY: "anthropic",
};

/** Whether a language model or an embedding model of a service is asked. */
export function usesModel({ llm }: Config): boolean {
  return llm.enabled || llm.embeddingModel !== undefined || llm.azureEmbedderName !== undefined;
}

/**
 * Keys of the user that would be sent to an address which only files of the folder choose. Keys of the folder itself are
 * none of the user's.
 *
 * @param own - The configuration without the files of the folder.
 */
export function keyItems(
  config: Config,
  own: Config,
  origins: Readonly<Record<string, Origin>>,
): TrustItem[] {
  const model = origins["llm.api_key"];
  const native = PROVIDER_OF_VARIABLE[model?.variable ?? ""];
  const { execution, llm } = config;
  // Without the folder another provider may be asked, with another key.
  const isOwnKey = llm.apiKey?.reveal() === own.llm.apiKey?.reveal();
  const ownAddresses = [...modelAddresses({ ...own.llm, enabled: true }), own.llm.azureEndpoint];
  return [
    ...keyItem("llm.api_key", llm.apiKey && model, modelAddresses(llm), [
      ...(isOwnKey ? ownAddresses : []),
      native && PROVIDER_ADDRESSES[native],
    ]),
    ...keyItem(
      "execution.msb_api_key",
      execution.msbApiKey && origins["execution.msb_api_key"],
      [execution.msbServerUrl],
      [own.execution.msbServerUrl],
    ),
  ];
}

/** The addresses that the key of the language model is sent to. */
function modelAddresses(llm: Llm): (string | undefined)[] {
  const { azureEmbedderName, azureEndpoint, baseUrl, embeddingModel, enabled, provider } = llm;
  const resource = provider === "azure_openai" ? azureEndpoint : undefined;
  return [
    enabled ? (baseUrl ?? resource ?? PROVIDER_ADDRESSES[provider]) : undefined,
    azureEmbedderName === undefined ? undefined : azureEndpoint,
    embeddingModel === undefined ? undefined : (baseUrl ?? PROVIDER_ADDRESSES.openai),
  ];
}

function keyItem(
  name: string,
  origin: Origin | undefined,
  addresses: readonly (string | undefined)[],
  known: readonly (string | undefined)[],
): TrustItem[] {
  if (origin === undefined || origin.ofFolder === true) return [];
  const chosen = [...new Set(addresses)].filter(
    (one): one is string => one !== undefined && !known.includes(one),
  );
  if (chosen.length === 0) return [];
  const places = chosen.map(placeOf).join(" and ");
  const text = `your key (${origin.label}) is sent to ${places}, which only files of this folder name`;
  return [trustItem({ kind: "key", name, text }, [origin.variable, ...chosen])];
}

/** The scheme, host and port of an address. */
function placeOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : address;
}
