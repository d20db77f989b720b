import { shellWord } from "../text/printing.ts";

/** Facts about an error for programs: numbers, names, places. Must not contain secrets. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** The part of an error that a hint is made from. */
export interface ErrorFacts {
  code: string;
  message?: string;
  details: ErrorDetails;
}

/** Finds the hint for an error, in plain text; `undefined` where there is none. */
export type HintFor = (error: ErrorFacts) => string | undefined;

/** One error: what it means, when it happens and what to do about it. */
export interface ErrorEntry {
  /** One sentence that holds wherever the error arises. Markdown. */
  meaning: string;
  /** When it happens, unless the meaning says so. Markdown. */
  cause?: string;
  /** Advice on how to fix it. Markdown. */
  fix: string;
  /**
   * Advice that the command line and the servers add to the message: the setting, option or command that helps in this
   * case, in plain text with two spaces before and after a command; or `fix`, the text above. Absent when the message
   * says it all.
   */
  hint?: "fix" | ((details: ErrorDetails, hintFor: HintFor) => string | undefined);
}

export type ErrorEntries = Readonly<Record<string, ErrorEntry>>;

const MAX_STEP_HINTS = 5;

/** The hints for tools that fit a step of a task but can't be called now. */
export function hintOfSteps({ steps }: ErrorDetails, hintFor: HintFor): string | undefined {
  const errors = (Array.isArray(steps) ? steps : []).map((step) => memberOf(step, "unavailable"));
  const hints = [...new Set(errors.filter(isErrorFacts).map(hintFor))].filter((hint) => hint !== undefined);
  return hints.length === 0 ? undefined : hints.slice(0, MAX_STEP_HINTS).join("\n");
}

/** Reads a member of a detail, which may have any shape. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

export function isErrorFacts(value: unknown): value is ErrorFacts {
  const details = memberOf(value, "details");
  return typeof memberOf(value, "code") === "string" && typeof details === "object" && details !== null;
}

/** A hint with a command that names the server and the customer, or at the refused setting, which no command changes. */
export function withServer(hint: (words: string) => string) {
  return ({ server, customer, setting }: ErrorDetails): string | undefined => {
    const option = typeof customer === "string" ? ` --customer ${shellWord(customer)}` : "";
    if (typeof server !== "string" || server === "") return undefined;
    if (setting === "headers")
      return `If it takes a key, set it in the headers of ${server} under mcp_servers, as in  Authorization: Bearer \${TOKEN}`;
    if (typeof setting === "string") return `Correct ${setting} of ${server} under mcp_servers.`;
    return hint(shellWord(server) + option);
  };
}

export function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" && value !== "" ? value : otherwise;
}
