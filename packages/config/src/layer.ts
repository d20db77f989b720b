import type { Position } from "./yaml-reader.ts";
import type { ConfigProblem } from "./problem.ts";

/** The source that a value came from. */
export interface Origin {
  from: "default" | "file" | "environment" | ".env" | "argument";
  /** A short text for people: `default`, `config.yaml:12`, `environment LLM_MODEL`, `.env LLM_MODEL`, `argument`. */
  label: string;
  /** Absolute path of the configuration file. */
  file?: string | undefined;
  /** The 1-based line in the file. */
  line?: number | undefined;
  /** The name of the environment variable. */
  variable?: string | undefined;
  /** Whether it comes from a file of the working folder that the user did not name, and so can't be trusted. */
  ofFolder?: boolean | undefined;
}

/** The origin of one value, with its path and position there. */
export interface SettingOrigin {
  /** The path as written: `execution.sandbox_type` in YAML, `execution.sandboxType` in arguments. */
  path: string;
  origin: Origin;
  position?: Position | undefined;
}

/** The values of one source by their TypeScript names, not validated yet. */
export interface Layer {
  values: Record<string, unknown>;
  /** The origins of the values, by the {@link originKey} of their path. */
  origins: Map<string, SettingOrigin>;
  problems: ConfigProblem[];
}

/** The key of a path in {@link Layer.origins}. */
export function originKey(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}

/** Reads the value at a path; `undefined` where there is none. */
export function getPath(values: unknown, keys: readonly PropertyKey[]): unknown {
  let value = values;
  for (const key of keys) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Sets the value at a path and creates the objects on the way. */
export function setPath(values: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  const [key = "", ...rest] = keys;
  if (rest.length === 0) {
    values[key] = value;
    return;
  }
  values[key] ??= {};
  setPath(values[key] as Record<string, unknown>, rest, value);
}

/** Creates a problem of the value at an origin. */
export function problemAt(
  settingOrigin: SettingOrigin,
  message: string,
  more: Partial<ConfigProblem> = {},
): ConfigProblem {
  const { origin, path, position } = settingOrigin;
  return {
    origin: origin.label,
    path,
    message,
    file: origin.file,
    variable: origin.variable,
    ...position,
    ...more,
  };
}

export const emptyLayer = (): Layer => ({ values: {}, origins: new Map(), problems: [] });
