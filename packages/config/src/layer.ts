import { CemError } from "@cem/core";

/** 1-based. */
export interface Position {
  line: number;
  column: number;
}

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
  /** Whether it comes from a file of the working folder that the user did not name, and is therefore not trusted. */
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
  /** Ignored values with the reason, one sentence each. */
  warnings: string[];
}

/** `["mcp_servers", 0, "url"]` → `mcp_servers[0].url`. */
export function dottedPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`,
    )
    .join("");
}

/** The key of a path in {@link Layer.origins}. */
export function originKey(path: readonly PropertyKey[]): string {
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

export function problemAt(settingOrigin: SettingOrigin, message: string, more: Partial<ConfigProblem> = {}) {
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

export const emptyLayer = (): Layer => ({ values: {}, origins: new Map(), problems: [], warnings: [] });

const MAX_SHOWN_CHARACTERS = 60;
const MAX_SHOWN_PROBLEMS = 20;
const MAX_KEPT_PROBLEMS = 200;

/** One problem of the configuration. It never contains a secret. */
export interface ConfigProblem {
  /** `config.yaml:7`, `environment LLM_MODEL`, `.env LLM_MODEL` or `argument`. */
  origin: string;
  /** The path as written there: `execution.sandbox_typ`. Empty for a problem of the whole file. */
  path: string;
  message: string;
  /** Absolute path of the configuration file. */
  file?: string | undefined;
  /** 1-based. */
  line?: number | undefined;
  column?: number | undefined;
  /** The name of the environment variable. */
  variable?: string | undefined;
  /** The bad value as JSON, shortened. Absent for secrets, lists and mappings. */
  value?: string | undefined;
  /** The accepted values, in words. */
  allowed?: string | undefined;
  /** Whether the key is not a setting. */
  unknown?: boolean | undefined;
  /** The nearest valid name or value. */
  suggestion?: string | undefined;
}

export function formatValue(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a mapping";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}

/** Lists problems for a message, one per line: place, path, and problem. */
export function listProblems<Problem extends Pick<ConfigProblem, "path" | "message">>(
  problems: readonly Problem[],
  placeOf: (problem: Problem) => string,
): string {
  const lines = problems
    .slice(0, MAX_SHOWN_PROBLEMS)
    .map((problem) =>
      [placeOf(problem), problem.path, problem.message].filter((part) => part !== "").join("  "),
    );
  if (problems.length > MAX_SHOWN_PROBLEMS) lines.push(`and ${problems.length - MAX_SHOWN_PROBLEMS} more`);
  return lines.join("\n");
}

export function configInvalid(problems: readonly ConfigProblem[]): CemError {
  const lines = listProblems(problems, ({ origin }) => origin);
  const heading = problems.length === 1 ? [] : [`The configuration has ${problems.length} problems.`];
  return new CemError("CONFIG_INVALID", [...heading, lines].join("\n"), {
    details: { total: problems.length, problems: problems.slice(0, MAX_KEPT_PROBLEMS) },
  });
}
