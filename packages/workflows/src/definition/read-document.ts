import { isNode, LineCounter, parseDocument } from "yaml";
import type { Document } from "yaml";
import { workflowInvalid } from "./problems.ts";
import type { DocumentPath } from "./workflow.ts";

/** The largest file that is read. */
export const MAX_WORKFLOW_BYTES = 1024 * 1024;
const MAX_ALIASES = 100;
const MAX_SHOWN_CHARACTERS = 200;

/** Where a value stands in its file. */
export interface Place {
  line: number;
  column: number;
}

/** A file's value, and where each part of it stands. */
export interface WorkflowDocument {
  value: unknown;
  /** The place of a value; of the nearest one around it where it has none. */
  placeOf(path: DocumentPath): Place | undefined;
}

/**
 * Reads YAML, of which JSON is a part.
 *
 * @param origin - The file's name, for messages.
 * @throws CemError `WORKFLOW_INVALID` with the line of each error.
 */
export function readDocument(text: string, origin: string): WorkflowDocument {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_WORKFLOW_BYTES) throw workflowTooLarge(origin, bytes);
  const lineCounter = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col };
  };
  let document: Document.Parsed;
  let value: unknown;
  try {
    document = parseDocument(text, { lineCounter, prettyErrors: false, stringKeys: true, logLevel: "error" });
    const problems = document.errors.map(({ message, pos }) => ({
      path: "",
      message: message.slice(0, MAX_SHOWN_CHARACTERS),
      ...placeAt(pos[0]),
    }));
    if (problems.length > 0) throw workflowInvalid(origin, problems);
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    // Too many aliases, one that refers to nothing, or a nesting that is too deep for the parser.
    if (!(error instanceof RangeError || error instanceof ReferenceError)) throw error;
    throw workflowInvalid(origin, [{ path: "", message: `can't be read: ${error.message}` }]);
  }
  return { value, placeOf: (path) => placeIn(document, path, placeAt) };
}

/** Creates the error for a file of more than {@link MAX_WORKFLOW_BYTES}. */
export function workflowTooLarge(origin: string, bytes: number): Error {
  const message = `has ${bytes} bytes, and ${MAX_WORKFLOW_BYTES} are the most. Put data into files of the workspace and parts into workflows of their own.`;
  return workflowInvalid(origin, [{ path: "", message }]);
}

function placeIn(
  document: Document.Parsed,
  path: DocumentPath,
  placeAt: (offset: number) => Place,
): Place | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    const range = isNode(node) ? node.range : undefined;
    if (range !== undefined && range !== null) return placeAt(range[0]);
  }
  return undefined;
}
