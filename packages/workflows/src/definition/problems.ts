import { CemError } from "@cem/core";
import type { DocumentPath } from "./workflow.ts";

/** One thing that is wrong with a workflow. */
export interface WorkflowProblem {
  /** The path of the value: `steps[2].config.code`. Empty for the whole. */
  path: string;
  message: string;
  /** From 1. Absent for a workflow that is no file. */
  line?: number | undefined;
  column?: number | undefined;
}

/** The most problems that a message tells. */
const MAX_TOLD = 20;

/** `steps[2].config`. */
export function pathText(path: DocumentPath): string {
  return path
    .map((key, index) => (typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join("");
}

/** Creates a `WORKFLOW_INVALID` error, which tells each problem with its line. */
export function workflowInvalid(origin: string, problems: readonly WorkflowProblem[]): CemError {
  const lines = problems.slice(0, MAX_TOLD).map(({ path, message, line }) => {
    const place = line === undefined ? origin : `${origin}:${line}`;
    return `${place}  ${path === "" ? "" : `${path} `}${message}`;
  });
  const left = problems.length - MAX_TOLD;
  if (left > 0) lines.push(`and ${left} more`);
  return new CemError("WORKFLOW_INVALID", lines.join("\n"), { details: { origin, problems } });
}
