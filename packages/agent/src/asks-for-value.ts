import { ASKING_VERBS } from "@cem/core/text";

const { read, list, search, compute, transform } = ASKING_VERBS;
const ASKING = new Set(
  [read, list, search, compute, transform, "compare return rank sort group"].join(" ").split(" "),
);
const CLAUSE = /[.;,:!?\n]|\b(?:and|then|please)\b/iu;

/** Whether a task asks for something to be told, rather than only done. */
export function asksForValue(task: string): boolean {
  if (task.trim().endsWith("?")) return true;
  return task.split(CLAUSE).some((clause) => ASKING.has(clause.trim().split(/\s/u)[0]?.toLowerCase() ?? ""));
}
