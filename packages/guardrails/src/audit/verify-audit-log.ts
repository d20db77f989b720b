import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { CemError } from "@cem/core";
import { listRotated } from "./audit-files.ts";
import { headFile, readHead } from "./audit-head.ts";
import { FIRST_HASH, readLine } from "./audit-line.ts";

const MAX_PROBLEMS = 100;

/** Something that is wrong with an audit log. */
export interface AuditProblem {
  file: string;
  /** The line in the file, from 1. Absent for what is missing at the end. */
  line?: number | undefined;
  message: string;
}

/** The result of {@link verifyAuditLog}. */
export interface AuditVerification {
  /** The files, oldest first. */
  files: string[];
  /** The number of lines that were read. */
  lines: number;
  /** The hash of the last line: keep it elsewhere, and give it as `expect` later. */
  head: string;
  /** Empty where the log is whole. At most 100. */
  problems: AuditProblem[];
}

/**
 * Verifies an audit log with its rotated files: that every line has the hash of its content, and of the line before. A cut
 * tail is found by the file `.head` beside the log, or by a hash of an earlier verification that the log lacks; who can
 * write all of them can cut it unseen.
 *
 * @param options - With `expect`, a hash that has to be that of some line.
 * @throws CemError `FILE_NOT_FOUND`.
 */
export async function verifyAuditLog(
  file: string,
  { expect }: { expect?: string | undefined } = {},
): Promise<AuditVerification> {
  const files = [...listRotated(file), ...(existsSync(file) ? [file] : [])];
  if (files.length === 0) {
    throw new CemError("FILE_NOT_FOUND", `There is no audit log ${file}.`, { details: { file } });
  }
  const problems: AuditProblem[] = [];
  const add = (problem: AuditProblem): void => {
    if (problems.length < MAX_PROBLEMS) problems.push(problem);
  };
  let prev: string | undefined;
  let seq = 0;
  let lines = 0;
  let isExpectedSeen = expect === undefined;
  for (const [at, current] of files.entries()) {
    let number = 0;
    for await (const text of createInterface({ input: createReadStream(current), crlfDelay: Infinity })) {
      number += 1;
      if (text === "") continue;
      lines += 1;
      const line = readLine(text);
      if (line === undefined || !line.isIntact) {
        add({ file: current, line: number, message: "This line was changed." });
      }
      if (line === undefined) {
        prev = undefined;
        continue;
      }
      if (prev === undefined && at === 0 && number === 1) prev = line.seq === 1 ? FIRST_HASH : line.prev;
      if (prev !== undefined && line.prev !== prev) {
        const missing = line.seq - seq - 1;
        const message =
          missing > 0
            ? `${counted(missing)} missing before this one.`
            : "This line does not follow the one before it.";
        add({ file: current, line: number, message });
      }
      if (number === 1 && at === 0 && line.seq !== 1) {
        add({
          file: current,
          line: 1,
          message: `The log begins with line ${line.seq}: earlier files are missing.`,
        });
      }
      if (line.hash === expect) isExpectedSeen = true;
      ({ hash: prev, seq } = line);
    }
  }
  const known = existsSync(headFile(file)) ? readHead(readFileSync(headFile(file), "utf8")) : undefined;
  if (known === undefined)
    add({ file: headFile(file), message: "The head is missing: lines may be cut off at the end." });
  else if (known.seq > seq) add({ file, message: `${counted(known.seq - seq)} missing at the end.` });
  else if (known.seq === seq && known.hash !== prev)
    add({ file, message: "The last line is not the one that was written last." });
  if (!isExpectedSeen) add({ file, message: "The line with the expected hash is missing." });
  return { files, lines, head: prev ?? FIRST_HASH, problems };
}

function counted(lines: number): string {
  return lines === 1 ? "1 line is" : `${lines} lines are`;
}
