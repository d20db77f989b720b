import { closeSync, fchmodSync, fstatSync, openSync, readSync, renameSync, writeSync } from "node:fs";
import path from "node:path";
import { CemError } from "@cem/core";
import type { AuditEvent, AuditLog } from "@cem/core";
import { FileLock, makeFolderSync } from "@cem/core/files";
import { withoutSession } from "./audit-chain.ts";
import { listRotated, rotatedFile } from "./audit-files.ts";
import { EMPTY_HEAD, headFile, readHead, writeHead } from "./audit-head.ts";
import type { AuditHead } from "./audit-head.ts";
import { readLine, writeLine } from "./audit-line.ts";

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
const PRIVATE = 0o600;
const MAX_WAIT_MS = 15_000;
/** The longest line that is looked for at the end of a file. */
const MAX_LINE_BYTES = 1024 * 1024;
const HEAD_BYTES = 97;

/** Settings of {@link createAuditLog}. */
export interface AuditLogSettings {
  /** The file, which is made when the first event is recorded, readable by its owner alone. */
  file: string;
  /**
   * The size at which the file is put aside and another begun, in bytes.
   *
   * @defaultValue 16 MiB
   */
  maxBytes?: number | undefined;
}

/**
 * Creates an audit log in a file: one JSON object per line, each with the hash of the line before. Any number of
 * processes may write to one file. Beside it lies a file `.head` with the number and the hash of the last line.
 */
export function createAuditLog({ file, maxBytes = DEFAULT_MAX_BYTES }: AuditLogSettings): AuditLog {
  let isReady = false;
  const append = (event: AuditEvent): void => {
    if (!isReady) makeFolderSync(path.dirname(file));
    isReady = true;
    // Held for well under a millisecond.
    const lock = FileLock.takeSync(`${file}.lock`, {
      waitMs: MAX_WAIT_MS,
      busy: (holder) =>
        new Error(`process ${holder?.pid} has held ${file}.lock for ${MAX_WAIT_MS / 1_000} s`),
    });
    try {
      const head = openSync(headFile(file), "a+", PRIVATE);
      const writable = openSync(headFile(file), "r+");
      let log = openSync(file, "a+", PRIVATE);
      try {
        let last = currentHead(head, log);
        if (last.size === 0) fchmodSync(log, PRIVATE);
        if (last.size >= maxBytes) {
          closeSync(log);
          renameSync(file, rotatedFile(file, listRotated(file).length + 1));
          log = openSync(file, "a+", PRIVATE);
          last = { ...last, size: 0 };
        }
        const facts = { seq: last.seq + 1, time: new Date().toISOString(), prev: last.hash };
        const { line, hash } = writeLine(facts, withoutSession(event));
        const written = writeSync(log, `${line}\n`);
        writeSync(writable, writeHead({ seq: facts.seq, hash, size: last.size + written }), 0);
      } finally {
        closeSync(log);
        closeSync(writable);
        closeSync(head);
      }
    } finally {
      lock.release();
    }
  };
  return {
    specificationVersion: "v1",
    record(event) {
      try {
        append(event);
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new CemError("AUDIT_UNWRITABLE", `The audit log ${file} can't be written: ${reason}.`, {
          details: { file },
          cause,
        });
      }
    },
  };
}

/**
 * Where the log goes on: after the head. Only a process that died between writing a line and the head leaves a line that
 * the head does not know; such a line is read. A tail that is missing is left to be found: the log goes on after the head.
 */
function currentHead(headDescriptor: number, log: number): AuditHead {
  const buffer = Buffer.alloc(HEAD_BYTES);
  const read = readSync(headDescriptor, buffer, 0, HEAD_BYTES, 0);
  const known = readHead(buffer.toString("utf8", 0, read)) ?? EMPTY_HEAD;
  const { size } = fstatSync(log);
  if (size <= known.size) return { ...known, size };
  const tail = lastLine(log, size);
  if (tail === undefined) {
    // A line that was cut by the end of its process. The next begins on a line of its own.
    return { ...known, size: size + writeSync(log, "\n") };
  }
  return tail.seq > known.seq ? { seq: tail.seq, hash: tail.hash, size } : { ...known, size };
}

function lastLine(log: number, size: number): ReturnType<typeof readLine> {
  const length = Math.min(size, MAX_LINE_BYTES);
  const buffer = Buffer.alloc(length);
  readSync(log, buffer, 0, length, size - length);
  const text = buffer.toString("utf8");
  return text.endsWith("\n") ? readLine(text.trimEnd().split("\n").at(-1) ?? "") : undefined;
}
