import { CALL_ERRORS } from "./calls.ts";
import { CONFIGURATION_ERRORS } from "./configuration.ts";
import { hintOfSteps, isErrorFacts, memberOf, type ErrorEntry, type ErrorFacts } from "./entry.ts";
import { MODEL_ERRORS } from "./models.ts";
import { RUN_ERRORS } from "./runs.ts";
import { SANDBOX_ERRORS } from "./sandboxes.ts";
import { SERVER_ERRORS } from "./servers.ts";
import { WORKFLOW_ERRORS } from "./workflows.ts";

export type { ErrorEntry } from "./entry.ts";

/** The error codes of this project, each with its meaning, cause and fix. Codes are stable. */
export const ERRORS = {
  ...RUN_ERRORS,
  ...CALL_ERRORS,
  ...SERVER_ERRORS,
  ...SANDBOX_ERRORS,
  ...WORKFLOW_ERRORS,
  ...MODEL_ERRORS,
  ...CONFIGURATION_ERRORS,
} as const;

/** A code of this project. */
export type KnownErrorCode = keyof typeof ERRORS;

/**
 * The setting, flag or command that helps with an error, as one or more sentences for people. Only the user interfaces
 * show it: the layers below know nothing of settings and commands.
 *
 * @returns `undefined` when there is nothing to add to the message, and for codes of plugins.
 */
export function hintFor({ code, details }: ErrorFacts): string | undefined {
  if (!Object.hasOwn(ERRORS, code)) return undefined;
  const { fix, hint }: ErrorEntry = ERRORS[code as KnownErrorCode];
  return typeof hint === "function" ? hint(details, hintFor) : hint && plain(fix);
}

/** The same for an agent that reads an answer over MCP: it has no command line, and can write the code itself. */
export function hintForAgent(error: ErrorFacts): string | undefined {
  const { code, details } = error;
  if (code === "CODE_THREW" && !isErrorFacts(details["toolError"])) return undefined;
  if (code !== "TASK_NOT_UNDERSTOOD" && code !== "ARGUMENT_MISSING" && code !== "NO_TOOL")
    return hintFor(error);
  const unavailable = hintOfSteps(details, hintFor);
  if (unavailable !== undefined) return unavailable;
  const [step]: unknown[] = Array.isArray(details["steps"]) ? details["steps"] : [];
  const [, name] = /^.+\.([\w$]+)$/u.exec(String(memberOf(step, "tool"))) ?? [];
  // For a task that was not understood, the tool is a guess.
  const isKnown = code === "ARGUMENT_MISSING" && name !== undefined;
  return `Write it for execute_code; ${isKnown ? `begin with: return await ${name}({ … });` : "find the tool with search_tools."}`;
}

/** Converts Markdown to plain text: two spaces before and after a command set it apart from the text. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/ `(cem [^`]+)`(?:\.$|$)/gu, "  $1")
    .replaceAll(/ `(cem [^`]+)` /gu, "  $1  ")
    .replaceAll("`", "");
}
