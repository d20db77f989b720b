import type { FailedTool } from "@cem/core";
import type { Subject } from "./violation.ts";

/** A tool of which something goes unchecked, with the reason as a clause. */
export interface Unvalidated extends FailedTool {
  /** What is not checked. */
  subject: Subject;
  reason: string;
}

/** Receives each tool whose arguments or results can't be checked, once for each of the two. */
export type OnUnvalidated = (tool: Unvalidated) => void;

/** Calls a listener once for each tool. */
export function onceForEachTool(
  subject: Subject,
  listener: OnUnvalidated | undefined,
): (tool: FailedTool, reason: string) => void {
  const reported = new Set<string>();
  return ({ server, tool }, reason) => {
    const key = JSON.stringify([server, tool]);
    if (!reported.has(key)) listener?.({ server, tool, subject, reason });
    reported.add(key);
  };
}
