import * as z from "zod/mini";
import { emptyLayer, type Layer, type Origin, originKey, problemAt, setPath } from "./layer.ts";
import { type Provider, PROVIDER_KEYS } from "./provider.ts";
import { unwrap } from "./schema-shape.ts";
import { schemaOf, SETTINGS, VARIABLES } from "./settings.ts";
import { type Variables, variableValue } from "./variables.ts";

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
export function environmentLayer(
  { from, variables, ofFolder }: EnvironmentSource,
  provider: Provider,
): { layer: Layer; warnings: string[] } {
  const layer = emptyLayer();
  const warnings: string[] = [];
  const originOf = (variable: string): Origin => ({
    from,
    label: `${from} ${variable}`,
    variable,
    ofFolder,
  });
  const taken = new Map<string, { name: string; value: string }>();
  if (provider.deducedFrom === from) {
    const origin = originOf(provider.variable);
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
        warnings.push(`${from} ${name}  is not used: ${winner.name} is set too and wins.`);
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
  return { layer, warnings };
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
