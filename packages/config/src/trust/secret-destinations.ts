import { getPath, type Origin } from "../layer.ts";
import type { Config } from "../schema.ts";
import type { Secret } from "../secret.ts";
import { SETTINGS } from "../settings.ts";
import { type TrustItem, trustItem } from "./trust-item.ts";

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/iu;

/** A secret setting and the setting of the URL that it is sent to. */
interface SecretDestination {
  secret: string;
  url: string;
  isUsed: (config: Config) => boolean;
}

const usesModel = ({ llm }: Config): boolean =>
  llm.enabled || llm.embeddingModel !== undefined || llm.azureEmbedderName !== undefined;
const SECRET_DESTINATIONS: readonly SecretDestination[] = [
  { secret: "llm.api_key", url: "llm.base_url", isUsed: usesModel },
  {
    secret: "llm.api_key",
    url: "llm.azure_endpoint",
    isUsed: (config) =>
      usesModel(config) &&
      (config.llm.provider === "azure_openai" || config.llm.azureEmbedderName !== undefined),
  },
  { secret: "execution.msb_api_key", url: "execution.msb_server_url", isUsed: () => true },
];

/**
 * Secrets of the user that would be sent to a URL from the folder's own config.yaml or .env. Secrets that come from the
 * folder itself and URLs of this machine need no yes.
 */
export function keyItems(config: Config, origins: Readonly<Record<string, Origin>>): TrustItem[] {
  return SECRET_DESTINATIONS.flatMap(({ secret, url, isUsed }) => {
    const [from, to] = [origins[secret], origins[url]];
    const address = valueOf(config, url);
    if (from === undefined || to?.ofFolder !== true || from.ofFolder === true) return [];
    if (typeof address !== "string" || valueOf(config, secret) === undefined || !isUsed(config)) return [];
    const host = URL.canParse(address) ? new URL(address).hostname : undefined;
    if (host !== undefined && LOOPBACK.test(host)) return [];
    const text = `your key (${from.label}) for ${host ?? "an address"}, which only files of this folder name`;
    return [trustItem({ kind: "key", name: url, text }, [secret, address])];
  });
}

function valueOf(config: Config, path: string): string | Secret | undefined {
  const setting = SETTINGS.find((one) => one.path === path);
  return getPath(config, setting?.keys ?? []) as string | Secret | undefined;
}
