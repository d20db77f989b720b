import { delimiter, resolve } from "node:path";
import { getPath, type Origin, problemAt } from "./layer.ts";
import type { ConfigProblem } from "./problem.ts";
import type { Config } from "./schema.ts";
import type { Secret } from "./secret.ts";
import { SETTINGS } from "./settings.ts";
import { TRUST_VARIABLE, variablesOf, type Variables, variableValue } from "./variables.ts";

const YES = new Set(["1", "true", "yes", "on"]);
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

/** Whether the environment trusts a folder, by `CEM_TRUST_FOLDER`. */
export function isFolderTrusted(folder: string, env: Variables): boolean {
  const said = variableValue(env, TRUST_VARIABLE);
  if (said === undefined) return false;
  return (
    YES.has(said.toLowerCase()) || said.split(delimiter).some((one) => one !== "" && resolve(one) === folder)
  );
}

/**
 * Finds secrets of the user that would be sent to a URL from the folder's own config.yaml or .env, since the folder may
 * be untrusted. Secrets that come from the folder itself and URLs of this machine are allowed.
 */
export function checkSecretDestinations(
  config: Config,
  origins: Readonly<Record<string, Origin>>,
  folder: string,
): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  for (const { secret, url, isUsed } of SECRET_DESTINATIONS) {
    const [from, to] = [origins[secret], origins[url]];
    const address = valueOf(config, url);
    if (from === undefined || to === undefined || typeof address !== "string" || !isUsed(config)) continue;
    if (valueOf(config, secret) === undefined || to.ofFolder !== true || from.ofFolder === true) continue;
    const host = hostOf(address);
    if (host !== undefined && LOOPBACK.test(host)) continue;
    const variable = variablesOf(url)[0] ?? url;
    const message = [
      `would send your key (${from.label}) to ${host ?? "a URL"}, which only files of this folder name.`,
      `To allow it, set ${variable} in your environment, put the key into .env here,`,
      `or set ${TRUST_VARIABLE}=${folder} .`,
    ].join(" ");
    problems.push(problemAt({ path: url, origin: to }, message));
  }
  return problems;
}

function valueOf(config: Config, path: string): string | Secret | undefined {
  const setting = SETTINGS.find((one) => one.path === path);
  return getPath(config, setting?.keys ?? []) as string | Secret | undefined;
}

function hostOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).hostname : undefined;
}
