import * as z from "zod";
import { configSchema } from "./schema.ts";
import { dottedPath, toSnakeCase } from "./names.ts";
import { allowedOf, holdsSecret, traitsOf, unwrap } from "./schema-shape.ts";
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

function collect(object: z.ZodObject, keys: readonly string[]): void {
  for (const [key, child] of Object.entries(object.shape) as [string, z.ZodType][]) {
    const childKeys = [...keys, key];
    const path = dottedPath(childKeys.map(toSnakeCase));
    const description = child.description ?? "";
    const inner = unwrap(child);
    if (inner instanceof z.ZodObject) {
      sections.push({ path, keys: childKeys, description });
      collect(inner, childKeys);
      continue;
    }
    const { path: isPath = false, pending } = traitsOf(child);
    settings.push({
      path,
      keys: childKeys,
      description,
      allowed: allowedOf(child),
      default: child.parse(undefined),
      variables: variablesOf(path),
      secret: holdsSecret(child),
      isPath,
      pending,
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
