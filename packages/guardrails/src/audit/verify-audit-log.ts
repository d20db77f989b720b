import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { CemError } from "@cem/core";
import { listRotated } from "./audit-files.ts";
import { headFile, readHead } from "./audit-head.ts";
import { ChainCheck } from "./audit-chain.ts";
import type { AuditProblem } from "./audit-chain.ts";

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
  const check = new ChainCheck(expect);
  for (const current of files) {
    let number = 0;
    for await (const text of createInterface({ input: createReadStream(current), crlfDelay: Infinity })) {
      number += 1;
      if (text !== "") check.read(text, { file: current, line: number });
    }
  }
  const known = existsSync(headFile(file)) ? readHead(readFileSync(headFile(file), "utf8")) : undefined;
  check.end(known, { file, noted: headFile(file) });
  return { files, lines: check.lines, head: check.head, problems: check.problems };
}
