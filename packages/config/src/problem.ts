import { CemError } from "@cem/core";

const MAX_SHOWN_CHARACTERS = 60;
const MAX_SHOWN_PROBLEMS = 20;
/** The most problems in the details of the error. */
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
  /** What the setting takes, in words. */
  allowed?: string | undefined;
  /** Whether the key is no setting. */
  unknown?: boolean | undefined;
  /** The nearest valid name or value. */
  suggestion?: string | undefined;
}

/** Formats a value for a message: JSON on one line, shortened. */
export function formatValue(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a mapping";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}

/** `CONFIG_INVALID`: the configuration has these problems. */
export function configInvalid(problems: readonly ConfigProblem[]): CemError {
  const lines = problems
    .slice(0, MAX_SHOWN_PROBLEMS)
    .map(({ origin, path, message }) => [origin, path, message].filter((part) => part !== "").join("  "));
  if (problems.length > MAX_SHOWN_PROBLEMS) lines.push(`and ${problems.length - MAX_SHOWN_PROBLEMS} more`);
  const heading = problems.length === 1 ? [] : [`The configuration has ${problems.length} problems.`];
  return new CemError("CONFIG_INVALID", [...heading, ...lines].join("\n"), {
    details: { total: problems.length, problems: problems.slice(0, MAX_KEPT_PROBLEMS) },
  });
}
