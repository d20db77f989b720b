import { readYaml } from "@cem/config/yaml";
import type { Position } from "@cem/config/yaml";
import { CemError } from "@cem/core";
import type { DocumentPath } from "../expressions/expression.ts";

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

/** The largest file that is read. */
export const MAX_WORKFLOW_BYTES = 1024 * 1024;

/** A file's value, and where each part of it stands. */
export interface WorkflowDocument {
  value: unknown;
  /** The place of a value; of the nearest one around it where it has none. */
  placeOf(path: DocumentPath): Position | undefined;
}

/**
 * Reads YAML, of which JSON is a part.
 *
 * @param origin - The file's name, for messages.
 * @throws CemError `WORKFLOW_INVALID` with the line of the first error.
 */
export function readDocument(text: string, origin: string): WorkflowDocument {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_WORKFLOW_BYTES) throw workflowTooLarge(origin, bytes);
  const { value = null, problems, at } = readYaml(text);
  const [problem] = problems;
  // Further errors mostly follow from the first.
  if (problem !== undefined) throw workflowInvalid(origin, [{ path: "", ...problem }]);
  return { value, placeOf: (path) => at(path).position };
}

/** Creates the error for a file of more than {@link MAX_WORKFLOW_BYTES}. */
export function workflowTooLarge(origin: string, bytes: number): Error {
  const message = `has ${bytes} bytes, and ${MAX_WORKFLOW_BYTES} are the most. Put data into files of the workspace and parts into workflows of their own.`;
  return workflowInvalid(origin, [{ path: "", message }]);
}
