import { readFileSync } from "node:fs";
import path from "node:path";

/** The answers to each task, in the order of the requests. */
export type Recordings = ReadonlyMap<string, readonly string[]>;

/** The recorded answers to the tasks of our own. */
export const RECORDINGS = path.join(import.meta.dirname, "recordings.txt");

/** Reads recordings: `=== id` begins a task, and a line of `---` the answer to its next request. */
export function readRecordings(file: string): Recordings {
  const [, ...parts] = readFileSync(file, "utf8").split(/^=== /mu);
  return new Map(
    parts.map((part) => {
      const [id = "", ...lines] = part.split("\n");
      return [
        id.trim(),
        lines
          .join("\n")
          .split(/^---$/mu)
          .map((answer) => answer.trim()),
      ];
    }),
  );
}
