import type { ExecuteOptions, SessionLog } from "@cem/core";
import { ASKING_VERBS } from "@cem/core/text";

/** Words in a task that refer to earlier tasks. */
const REFERS_BACK =
  /\b(?:continue|resume|go on|carry on|previous|earlier|so far|progress|step \d|(?:last|first|that|same) (?:task|step|result|run|value))/i;

/** Adds a summary of the session's earlier tasks to the context of a task that refers to them. */
export async function withRecap(task: string, options: ExecuteOptions, sessionLog: SessionLog) {
  if (!sessionLog.isResumed && !REFERS_BACK.test(task)) return options;
  const recap = await sessionLog.recap(sessionOf(options));
  if (recap === undefined) return options;
  const context = options.context === undefined ? recap : `${recap}\n\n${options.context}`;
  return { ...options, context };
}

/** The session whose log contains a run. Single runs of clients without a session share one. */
export function sessionOf({ session, singleUse }: ExecuteOptions): string | undefined {
  return singleUse === true ? undefined : session;
}

const { read, list, search, compute, transform } = ASKING_VERBS;
const ASKING = new Set(
  [read, list, search, compute, transform, "compare return rank sort group"].join(" ").split(" "),
);
const CLAUSE = /[.;,:!?\n]|\b(?:and|then|please)\b/iu;

export function expectsValue(task: string): boolean {
  if (task.trim().endsWith("?")) return true;
  return task.split(CLAUSE).some((clause) => ASKING.has(clause.trim().split(/\s/u)[0]?.toLowerCase() ?? ""));
}
