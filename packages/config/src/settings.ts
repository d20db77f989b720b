import * as z from "zod/mini";
import { configSchema } from "./schema.ts";
import { dottedPath, toSnakeCase } from "./names.ts";
import { allowedOf, holdsSecret, properties, traitsOf, unwrap } from "./schema-shape.ts";
import { variablesOf } from "./variables.ts";

/** The description of one setting, for documentation and diagnostics. */
export interface Setting {
  /** The path in config.yaml: `execution.sandbox_type`. */
  path: string;
  /** The path in TypeScript: `["execution", "sandboxType"]`. */
  keys: readonly string[];
  description: string;
  /** What it takes, in words. */
  allowed: string;
  /** The default; `undefined` for a setting that is unset by default. */
  default: unknown;
  /** The environment variables that set it; the first has precedence. */
  variables: readonly string[];
  /** Whether its value contains secrets. */
  secret: boolean;
  /** Whether it is a path on the host. */
  isPath: boolean;
  /** Why the setting has no effect yet. */
  pending?: string | undefined;
}

/** A group of settings. */
export interface SettingSection {
  path: string;
  keys: readonly string[];
  description: string;
}

const settings: Setting[] = [];
const sections: SettingSection[] = [];

function collect(object: z.ZodMiniObject, keys: readonly string[]): void {
  for (const [key, child] of properties(object, "camel").values()) {
    const childKeys = [...keys, key];
    const path = dottedPath(childKeys.map(toSnakeCase));
    const description = z.globalRegistry.get(child)?.description ?? "";
    const inner = unwrap(child);
    if (inner instanceof z.ZodMiniObject) {
      sections.push({ path, keys: childKeys, description });
      collect(inner, childKeys);
      continue;
    }
    const { path: isPath = false, pending } = traitsOf(child);
    settings.push({
      path,
      keys: childKeys,
      description,
      isPath,
      pending,
      // Worked out when they are asked for: loading a configuration needs none of them.
      get allowed() {
        return allowedOf(child);
      },
      get default() {
        return child.parse(undefined);
      },
      get variables() {
        return variablesOf(path);
      },
      get secret() {
        return holdsSecret(child);
      },
    });
  }
}

collect(configSchema, []);

/** Every setting, in the order of the schema. */
export const SETTINGS: readonly Setting[] = settings;

/** Every section, parents first. */
export const SECTIONS: readonly SettingSection[] = sections;

/** Settings that are read and have no effect yet, with the reason. */
export const PENDING_SETTINGS: Readonly<Record<string, string>> = Object.fromEntries(
  settings.flatMap(({ path, pending }) => (pending === undefined ? [] : [[path, pending]])),
);
