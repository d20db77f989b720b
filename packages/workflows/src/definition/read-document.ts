import { readYaml } from "@cem/config/yaml";
import type { Position } from "@cem/config/yaml";
import { workflowInvalid } from "./problems.ts";
import type { DocumentPath } from "./workflow.ts";

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
  // What else can't be read mostly follows from the first.
  if (problem !== undefined) throw workflowInvalid(origin, [{ path: "", ...problem }]);
  return { value, placeOf: (path) => at(path).position };
}

/** Creates the error for a file of more than {@link MAX_WORKFLOW_BYTES}. */
export function workflowTooLarge(origin: string, bytes: number): Error {
  const message = `has ${bytes} bytes, and ${MAX_WORKFLOW_BYTES} are the most. Put data into files of the workspace and parts into workflows of their own.`;
  return workflowInvalid(origin, [{ path: "", message }]);
}
