import { CemError } from "@cem/core";

const MAX_SHOWN_CHARACTERS = 60;
const MAX_SHOWN_PROBLEMS = 20;
/** More say nothing more. */
const MAX_KEPT_PROBLEMS = 200;

/** One thing that is wrong with the configuration. Never holds a secret. */
export interface ConfigProblem {
  /** `config.yaml:7`, `environment LLM_MODEL`, `.env LLM_MODEL` or `argument`. */
  origin: string;
  /** The path as written there: `execution.sandbox_typ`. Empty for the whole file. */
  path: string;
  message: string;
  /** Absolute path. */
  file?: string | undefined;
  /** 1-based. */
  line?: number | undefined;
  column?: number | undefined;
  variable?: string | undefined;
  /** The bad value as JSON, cut. Absent for secrets and whole sections. */
  value?: string | undefined;
  allowed?: string | undefined;
  suggestion?: string | undefined;
}

/** A value for a message: as JSON, one line, not long. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a mapping";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}

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
