import {
  closeSync,
  createReadStream,
  existsSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { CemError } from "@cem/core";
import type { AuditEvent, AuditLog } from "@cem/core";
import { FileLock, makeFolder, PRIVATE_FILE } from "@cem/core/files";
import { ChainCheck, FIRST_HASH, readLine, withoutSession, writeLine } from "./audit-chain.ts";
import type { AuditProblem } from "./audit-chain.ts";

/** The file that an audit log's lines are moved to when it is full: `audit.jsonl` to `audit.000001.jsonl`. */
function rotatedFile(file: string, count: number): string {
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}.${String(count).padStart(6, "0")}${ext}`);
}

/** The rotated files of an audit log, oldest first. */
function listRotated(file: string): string[] {
  const { dir, name, ext } = path.parse(file);
  let entries: string[];
  try {
    entries = readdirSync(dir === "" ? "." : dir);
  } catch {
    return [];
  }
  return entries
    .filter((entry) => {
      const count = entry.slice(name.length + 1, entry.length - ext.length);
      return entry.startsWith(`${name}.`) && entry.endsWith(ext) && /^\d{6}$/.test(count);
    })
    .toSorted()
    .map((entry) => path.join(dir, entry));
}

/** Where an audit log ends: kept beside it, so that a tail that was cut off is missed. */
interface AuditHead {
  /** The number of the last line. */
  seq: number;
  /** The hash of the last line. */
  hash: string;
  /** The size of the current file, in bytes. */
  size: number;
}

const EMPTY_HEAD: AuditHead = { seq: 0, hash: FIRST_HASH, size: 0 };
/** A head has always the same length, so that a shorter one never leaves the end of a longer one. */
const HEAD = /^(\d{15}) (\d{15}) ([0-9a-f]{64})\n/;

function headFile(file: string): string {
  return `${file}.head`;
}

/** @returns `undefined` for what is not a head. */
function readHead(text: string): AuditHead | undefined {
  const [, seq, size, hash] = HEAD.exec(text) ?? [];
  return hash === undefined ? undefined : { seq: Number(seq), size: Number(size), hash };
}

function digits(count: number): string {
  return String(count).padStart(15, "0");
}

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
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
  /** Called before the first event is recorded where the end of the log is not as its last process left it. */
  onBroken?: (() => void) | undefined;
}

/**
 * Creates an audit log in a file: one JSON object per line, each with the hash of the line before. Any number of
 * processes may write to one file. Beside it lies a file `.head` with the number and the hash of the last line.
 */
export function createAuditLog({ file, maxBytes = DEFAULT_MAX_BYTES, onBroken }: AuditLogSettings): AuditLog {
  let isReady = false;
  const append = (event: AuditEvent): void => {
    if (!isReady) makeFolder(path.dirname(file));
    // Held for well under a millisecond.
    const lock = FileLock.takeSync(`${file}.lock`, {
      waitMs: MAX_WAIT_MS,
      busy: () => new Error(`another process has held ${file}.lock for ${MAX_WAIT_MS / 1_000} s`),
    });
    try {
      const head = openSync(headFile(file), "a+", PRIVATE_FILE);
      const writable = openSync(headFile(file), "r+");
      let log = openSync(file, "a+", PRIVATE_FILE);
      try {
        let { last, isWhole } = currentHead(head, log);
        if (!isReady && !isWhole) onBroken?.();
        isReady = true;
        if (last.size === 0) fchmodSync(log, PRIVATE_FILE);
        if (last.size >= maxBytes) {
          closeSync(log);
          renameSync(file, rotatedFile(file, listRotated(file).length + 1));
          log = openSync(file, "a+", PRIVATE_FILE);
          last = { ...last, size: 0 };
        }
        const facts = { seq: last.seq + 1, time: new Date().toISOString(), prev: last.hash };
        const { line, hash } = writeLine(facts, withoutSession(event));
        try {
          // Unlike writeSync it goes on after a part, as a full disk takes one, and fails where no more is taken.
          writeFileSync(log, `${line}\n`);
          writeSync(writable, `${digits(facts.seq)} ${digits(fstatSync(log).size)} ${hash}\n`, 0);
        } catch (error) {
          // The beginning of a line would look as if someone had changed it.
          ftruncateSync(log, last.size);
          throw error;
        }
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
function currentHead(headDescriptor: number, log: number): { last: AuditHead; isWhole: boolean } {
  const buffer = Buffer.alloc(HEAD_BYTES);
  const read = readSync(headDescriptor, buffer, 0, HEAD_BYTES, 0);
  const head = readHead(buffer.toString("utf8", 0, read));
  const known = head ?? EMPTY_HEAD;
  const { size } = fstatSync(log);
  const tail = size === 0 ? undefined : lastLine(log, size);
  // Of the head there is all or nothing, and of the log as much.
  const isWhole = (head !== undefined || read === 0) && size >= known.size;
  if (size <= known.size)
    return { last: { ...known, size }, isWhole: isWhole && (size === 0 || tail?.hash === known.hash) };
  if (tail === undefined) {
    // A line that was cut by the end of its process. The next begins on a line of its own.
    return { last: { ...known, size: size + writeSync(log, "\n") }, isWhole };
  }
  const isNext = tail.prev === known.hash;
  const last = tail.seq > known.seq ? { seq: tail.seq, hash: tail.hash, size } : { ...known, size };
  return { last, isWhole: isWhole && isNext };
}

function lastLine(log: number, size: number): ReturnType<typeof readLine> {
  const length = Math.min(size, MAX_LINE_BYTES);
  const buffer = Buffer.alloc(length);
  readSync(log, buffer, 0, length, size - length);
  const text = buffer.toString("utf8");
  return text.endsWith("\n") ? readLine(text.trimEnd().split("\n").at(-1) ?? "") : undefined;
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
