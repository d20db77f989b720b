import * as z from "zod/mini";
import { emptyLayer, getPath, originKey, problemAt, setPath, type Layer, type Origin } from "./layer.ts";
import { unwrap } from "./schema/shape.ts";
import { SETTINGS, VARIABLES, schemaOf } from "./settings.ts";

/** The variable with the path of the configuration file. It is not a setting. */
export const FILE_VARIABLE = "CEM_CONFIG";
/** The variable with the folders whose files are trusted. It is not a setting and never read from .env. */
export const TRUST_VARIABLE = "CEM_TRUST_FOLDER";

export type Variables = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as unset. */
export function variableValue(variables: Variables, name: string): string | undefined {
  const value = variables[name]?.trim();
  return value === "" ? undefined : value;
}

const TRUE = new Set(["true", "1", "yes", "on", "y", "t"]);
const FALSE = new Set(["false", "0", "no", "off", "n", "f"]);
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

export interface EnvironmentSource {
  from: "environment" | ".env";
  variables: Variables;
  /** Whether the variables come from a file of the working folder that the user did not name. */
  ofFolder?: boolean | undefined;
}

/** Reads the variables that set settings. Of the API keys, only the one of the chosen provider is read. */
export function environmentLayer({ from, variables, ofFolder }: EnvironmentSource, provider: Provider) {
  const layer = emptyLayer();
  const originOf = (variable: string): Origin => ({ from, label: `${from} ${variable}`, variable, ofFolder });
  const taken = new Map<string, { name: string; value: string }>();
  if (provider.deducedFrom === from) {
    const origin = originOf(AZURE_VARIABLE);
    setPath(layer.values, PROVIDER_KEYS, provider.name);
    layer.origins.set(originKey(PROVIDER_KEYS), { path: "llm.provider", origin });
  }
  for (const { name, path, provider: only } of VARIABLES) {
    const value = variableValue(variables, name);
    const setting = SETTINGS.find((candidate) => candidate.path === path);
    if (value === undefined || setting === undefined || (only !== undefined && only !== provider.name))
      continue;
    const winner = taken.get(path);
    if (winner !== undefined) {
      if (winner.value !== value)
        layer.warnings.push(`${from} ${name}  is not used: ${winner.name} is set too and wins.`);
      continue;
    }
    taken.set(path, { name, value });
    const settingOrigin = { path, origin: originOf(name) };
    layer.origins.set(originKey(setting.keys), settingOrigin);
    const coerced = coerce(value, unwrap(schemaOf(setting.keys)));
    if (coerced === undefined) {
      const message = `is ${JSON.stringify(value.slice(0, 60))}. Allowed: ${setting.allowed}.`;
      layer.problems.push(problemAt(settingOrigin, message, { value, allowed: setting.allowed }));
    } else setPath(layer.values, setting.keys, coerced);
  }
  return layer;
}

/** Converts the text of a variable to the type of its setting; `undefined` when that is not possible. */
function coerce(value: string, schema: z.ZodMiniType): unknown {
  if (schema instanceof z.ZodMiniBoolean) {
    const word = value.toLowerCase();
    return TRUE.has(word) ? true : FALSE.has(word) ? false : undefined;
  }
  if (schema instanceof z.ZodMiniNumber) return NUMBER.test(value) ? Number(value) : undefined;
  return schema instanceof z.ZodMiniEnum ? value.toLowerCase() : value;
}

const PROVIDER_KEYS = ["llm", "provider"];
const AZURE_VARIABLE = "AZURE_OPENAI_ENDPOINT";

/** The language model provider, which decides which API key is read. */
export interface Provider {
  name: string;
  /** The source whose Azure variable implies the provider, when no source names it. */
  deducedFrom?: string | undefined;
}

/** Determines the provider before the environment is read, since it decides which variable holds the API key. */
export function chooseProvider(
  [file, argument]: readonly [file: Layer, argument: Layer],
  sources: readonly EnvironmentSource[],
): Provider {
  const ofVariables = sources.map(({ variables }) => variableValue(variables, "LLM_PROVIDER"));
  const named =
    getPath(argument.values, PROVIDER_KEYS) ??
    ofVariables.findLast((value) => value !== undefined) ??
    getPath(file.values, PROVIDER_KEYS);
  if (typeof named === "string") return { name: named.toLowerCase() };
  const azure = sourceOfAzure(sources);
  return azure === undefined ? { name: "openai" } : { name: "azure_openai", deducedFrom: azure.from };
}

function sourceOfAzure(sources: readonly EnvironmentSource[]): EnvironmentSource | undefined {
  return sources.findLast(({ variables }) => variableValue(variables, AZURE_VARIABLE) !== undefined);
}

/** Azure's variables alone don't enable the model: they may be for another program, and data would be sent at a cost. */
export function noticeOfIdleModel(enabled: Origin | undefined, sources: readonly EnvironmentSource[]) {
  if (enabled !== undefined && enabled.from !== "default") return [];
  const source = sourceOfAzure(sources);
  if (source === undefined) return [];
  return [
    `${source.from} ${AZURE_VARIABLE}  is set, but no model is asked before llm.enabled: true (LLM_ENABLED=true) says so; false ends this notice.`,
  ];
}

const NAMED = /^MCP_SERVER_(?<name>\w+)_URL$/u;
const WEB_URL = /^https?:\/\/[^\s/]/iu;

export interface VariableServer {
  name: string;
  url: string;
  origin: Origin;
}

/** Reads the MCP servers that variables name, strongest source first, each name once. */
export function serversOfVariables(sources: readonly EnvironmentSource[]) {
  const servers = new Map<string, VariableServer>();
  const warnings: string[] = [];
  for (const { from, variables, ofFolder } of sources.toReversed()) {
    for (const variable of Object.keys(variables).toSorted()) {
      const name = NAMED.exec(variable)?.groups?.["name"]?.toLowerCase();
      const url = variableValue(variables, variable);
      if (name === undefined || url === undefined || servers.has(name)) continue;
      if (WEB_URL.test(url))
        servers.set(name, { name, url, origin: { from, label: `${from} ${variable}`, variable, ofFolder } });
      else
        warnings.push(
          `${from} ${variable}  is not used: it is not a URL that begins with http:// or https://. A command goes under mcp_servers.`,
        );
    }
  }
  return { servers: [...servers.values()], warnings };
}
