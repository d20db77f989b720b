import type { Position } from "./located.ts";
import type { ConfigProblem } from "./problem.ts";

/** Where a value came from. */
export interface Origin {
  from: "default" | "file" | "environment" | ".env" | "argument";
  /** For people: `default`, `config.yaml:12`, `environment LLM_MODEL`, `.env LLM_MODEL`, `argument`. */
  label: string;
  /** Absolute path of config.yaml. */
  file?: string | undefined;
  line?: number | undefined;
  variable?: string | undefined;
  /** It stands in a file of the working folder that nobody named, and so may be a stranger's. */
  ofFolder?: true | undefined;
}

/** Where in its source a value stands, and what it is called there. */
export interface SettingOrigin {
  path: string;
  origin: Origin;
  position?: Position | undefined;
}

/** Values from one source, under their TypeScript names, not checked yet. */
export interface Layer {
  values: Record<string, unknown>;
  /** By {@link placeKey}. */
  places: Map<string, SettingOrigin>;
  problems: ConfigProblem[];
}

export function placeKey(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}

export function getPath(values: unknown, keys: readonly PropertyKey[]): unknown {
  let value = values;
  for (const key of keys) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

export function setPath(values: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  const [key = "", ...rest] = keys;
  if (rest.length === 0) {
    values[key] = value;
    return;
  }
  values[key] ??= {};
  setPath(values[key] as Record<string, unknown>, rest, value);
}

export function problemAt(
  place: SettingOrigin,
  message: string,
  more: Partial<ConfigProblem> = {},
): ConfigProblem {
  const { origin, path, position } = place;
  return {
    origin: origin.label,
    path,
    message,
    ...(origin.file === undefined ? {} : { file: origin.file }),
    ...(origin.variable === undefined ? {} : { variable: origin.variable }),
    ...position,
    ...more,
  };
}

export const emptyLayer = (): Layer => ({ values: {}, places: new Map(), problems: [] });
