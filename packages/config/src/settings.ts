import * as z from "zod/mini";
import { configSchema } from "./schema/schema.ts";
import { dottedPath } from "./layer.ts";
import { allowedOf, holdsSecret, isPath, properties, toSnakeCase, traitsOf, unwrap } from "./schema/shape.ts";
import type { ProviderVariable, SettingTraits } from "./schema/setting.ts";

/** The description of one setting, for documentation and diagnostics. */
export interface Setting extends Pick<SettingTraits, "askedAs" | "isStricter" | "strictPart"> {
  /** The path in config.yaml: `execution.sandbox_type`. */
  path: string;
  /** The path in TypeScript: `["execution", "sandboxType"]`. */
  keys: readonly string[];
  description: string;
  /** The accepted values, in words. */
  allowed: string;
  /** The default; `undefined` for a setting that is unset by default. */
  default: unknown;
  /** The environment variables that set it; the first has precedence. */
  variables: readonly string[];
  /** Whether its value contains secrets. */
  secret: boolean;
  /** Whether a value is a path on the host. */
  isPath: (value: string) => boolean;
}

/** A group of settings. */
export interface SettingSection {
  path: string;
  keys: readonly string[];
  description: string;
}

export function settingsOf(schema: z.ZodMiniObject) {
  const settings: Setting[] = [];
  const sections: SettingSection[] = [];
  const collect = (object: z.ZodMiniObject, keys: readonly string[]): void => {
    for (const [key, child] of properties(object, "camel").values()) {
      const childKeys = [...keys, key];
      const path = dottedPath(childKeys.map(toSnakeCase));
      const description = z.globalRegistry.get(child)?.description ?? "";
      const inner = unwrap(child);
      if (inner instanceof z.ZodMiniObject) {
        sections.push({ path, keys: childKeys, description });
        collect(inner, childKeys);
      } else settings.push(toSetting(child, { path, keys: childKeys, description }));
    }
  };
  collect(schema, []);
  return { settings, sections };
}

function toSetting(schema: z.ZodMiniType, named: Pick<Setting, "path" | "keys" | "description">): Setting {
  const { risk, variables = [], path, isStricter, strictPart } = traitsOf(schema);
  const { askedAs = path === true ? "path" : "setting" } = traitsOf(schema);
  return {
    ...named,
    isPath: (value) => isPath(schema, value),
    askedAs: risk === "none" ? undefined : askedAs,
    isStricter,
    strictPart,
    variables: variables.map((one) => (typeof one === "string" ? one : one.name)),
    // Computed lazily: loading a configuration needs none of them.
    get allowed() {
      return allowedOf(schema);
    },
    get default() {
      return schema.parse(undefined);
    },
    get secret() {
      return holdsSecret(schema);
    },
  };
}

const { settings, sections } = settingsOf(configSchema);

/** Every setting, in the order of the schema. */
export const SETTINGS: readonly Setting[] = settings;
/** Every section, parents first. */
export const SECTIONS: readonly SettingSection[] = sections;

/** An environment variable that sets a setting; of some, only with one `llm.provider`. */
export interface Variable {
  name: string;
  /** The path of the setting. */
  path: string;
  provider?: ProviderVariable["provider"] | undefined;
}

/** Every variable that sets a setting, in the order of the settings. Of two for one setting, the first wins. */
export const VARIABLES: readonly Variable[] = SETTINGS.flatMap(({ path, keys }) =>
  (traitsOf(schemaOf(keys)).variables ?? []).map((variable) =>
    typeof variable === "string" ? { name: variable, path } : { ...variable, path },
  ),
);

/** The schema of a setting or section, with its traits. */
export function schemaOf(keys: readonly string[]): z.ZodMiniType {
  let schema: z.ZodMiniType = configSchema;
  for (const key of keys) schema = (unwrap(schema) as z.ZodMiniObject).shape[key] as z.ZodMiniType;
  return schema;
}
