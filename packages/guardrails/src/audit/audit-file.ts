import * as fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { CemError, type AuditEvent, type AuditLog } from "@cem/core";
import { FileLock, makeFolder, PRIVATE_FILE } from "@cem/core/files";
import { ChainCheck, FIRST_HASH, readLine, withoutSession, writeLine } from "./audit-chain.ts";
import type { AuditProblem } from "./audit-chain.ts";

/**
 * The file that a full audit log is renamed to: `audit.jsonl` to `audit.000001.jsonl`. Its number follows the newest one,
 * since the oldest may have been removed.
 */
function nextRotatedFile(file: string): string {
  const { dir, name, ext } = path.parse(file);
  const newest = path.basename(listRotated(file).at(-1) ?? "");
  const count = Number.parseInt(newest.slice(name.length + 1), 10) || 0;
  return path.join(dir, `${name}.${String(count + 1).padStart(6, "0")}${ext}`);
}

/** The rotated files of an audit log, oldest first. */
function listRotated(file: string): string[] {
  const { dir, name, ext } = path.parse(file);
  let entries: string[];
  try {
    entries = fs.readdirSync(dir === "" ? "." : dir);
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

/** The end of an audit log, stored separately to detect truncation. */
interface AuditHead {
  /** The number of the last line. */
  seq: number;
  /** The hash of the last line. */
  hash: string;
  /** The size of the current file, in bytes. */
  size: number;
}

const EMPTY_HEAD: AuditHead = { seq: 0, hash: FIRST_HASH, size: 0 };
/** The head has a fixed length, so that an overwritten one leaves no remainder. */
const HEAD = /^(\d{15}) (\d{15}) ([0-9a-f]{64})\n/;

function headFile(file: string): string {
  return `${file}.head`;
}

/** @returns `undefined` if it is not a head. */
function readHead(text: string): AuditHead | undefined {
  const [, seq, size, hash] = HEAD.exec(text) ?? [];
  return hash === undefined ? undefined : { seq: Number(seq), size: Number(size), hash };
}

function digits(count: number): string {
  return String(count).padStart(15, "0");
}

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
const MAX_WAIT_MS = 15_000;
/** Maximum length of the last line that is read from the end of a file. */
const MAX_LINE_BYTES = 1024 * 1024;
const HEAD_BYTES = 97;

/** Settings of {@link createAuditLog}. */
export interface AuditLogSettings {
  /** The file, created with the first event, and readable only by its owner. */
  file: string;
  /**
   * The size at which the file is rotated, in bytes.
   *
   * @defaultValue 16 MiB
   */
  maxBytes?: number | undefined;
  /** Called before the first event is recorded if the end of the log was modified. */
  onBroken?: (() => void) | undefined;
}

/**
 * Creates an audit log in a file: one JSON object per line, each with the hash of the previous line. Any number of
 * processes may write to one file. A `.head` file next to it contains the number and the hash of the last line.
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
      const head = fs.openSync(headFile(file), "a+", PRIVATE_FILE);
      const writable = fs.openSync(headFile(file), "r+");
      let log = fs.openSync(file, "a+", PRIVATE_FILE);
      try {
        let { last, isWhole } = currentHead(head, log, isReady);
        if (!isReady && !isWhole) onBroken?.();
        isReady = true;
        if (last.size === 0) fs.fchmodSync(log, PRIVATE_FILE);
        if (last.size >= maxBytes) {
          fs.closeSync(log);
          fs.renameSync(file, nextRotatedFile(file));
          log = fs.openSync(file, "a+", PRIVATE_FILE);
          last = { ...last, size: 0 };
        }
        const facts = { seq: last.seq + 1, time: new Date().toISOString(), prev: last.hash };
        const { line, hash } = writeLine(facts, withoutSession(event));
        try {
          // Unlike writeSync, it continues after a partial write, as on a full disk, and fails if no more can be written.
          fs.writeFileSync(log, `${line}\n`);
          fs.writeSync(writable, `${digits(facts.seq)} ${digits(fs.fstatSync(log).size)} ${hash}\n`, 0);
        } catch (error) {
          // A partial line would look like tampering.
          fs.ftruncateSync(log, last.size);
          throw error;
        }
      } finally {
        fs.closeSync(log);
        fs.closeSync(writable);
        fs.closeSync(head);
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
        throw unwritable(file, cause);
      }
    },
  };
}

function unwritable(file: string, cause: unknown): CemError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `The audit log ${file} can't be written: ${reason}.`;
  return new CemError("AUDIT_UNWRITABLE", message, { details: { file }, cause });
}

/** More than a line of the log has. */
const PROBE = new Uint8Array(4096);

/**
 * Tests whether an audit log can be written, without a line in it.
 *
 * @throws CemError `AUDIT_UNWRITABLE`
 */
export function probeAuditLog(file: string): void {
  try {
    makeFolder(path.dirname(file));
    fs.closeSync(fs.openSync(file, "a", PRIVATE_FILE));
    // Only a write tells that the disk is full.
    const probe = `${file}.probe-${process.pid}`;
    try {
      fs.writeFileSync(probe, PROBE, { mode: PRIVATE_FILE });
    } finally {
      fs.rmSync(probe, { force: true });
    }
  } catch (cause) {
    throw unwritable(file, cause);
  }
}

/**
 * Determines where the log continues: after the head. A process that died between writing a line and the head leaves a line
 * beyond the head, which is taken into account. A missing tail stays detectable, since the log continues with the head's
 * number and hash.
 *
 * @param isChecked - Whether the end was looked at before.
 */
function currentHead(
  headDescriptor: number,
  log: number,
  isChecked: boolean,
): { last: AuditHead; isWhole: boolean } {
  const buffer = Buffer.alloc(HEAD_BYTES);
  const read = fs.readSync(headDescriptor, buffer, 0, HEAD_BYTES, 0);
  const head = readHead(buffer.toString("utf8", 0, read));
  const known = head ?? EMPTY_HEAD;
  const { size } = fs.fstatSync(log);
  // The usual case. Reading the end of a long file each time would be most of the cost of an event.
  if (isChecked && head?.size === size) return { last: head, isWhole: true };
  const tail = size === 0 ? undefined : lastLine(log, size);
  // The head must be complete or empty, and the log at least as long as it says.
  const isWhole = (head !== undefined || read === 0) && size >= known.size;
  if (size <= known.size)
    return { last: { ...known, size }, isWhole: isWhole && (size === 0 || tail?.hash === known.hash) };
  if (tail === undefined) {
    // A line that was truncated when its process died. The next entry starts on a new line.
    return { last: { ...known, size: size + fs.writeSync(log, "\n") }, isWhole };
  }
  const isNext = tail.prev === known.hash;
  const last = tail.seq > known.seq ? { seq: tail.seq, hash: tail.hash, size } : { ...known, size };
  return { last, isWhole: isWhole && isNext };
}

function lastLine(log: number, size: number): ReturnType<typeof readLine> {
  const length = Math.min(size, MAX_LINE_BYTES);
  const buffer = Buffer.alloc(length);
  fs.readSync(log, buffer, 0, length, size - length);
  const text = buffer.toString("utf8");
  return text.endsWith("\n") ? readLine(text.trimEnd().split("\n").at(-1) ?? "") : undefined;
}

/** The result of {@link verifyAuditLog}. */
export interface AuditVerification {
  /** The files, oldest first. */
  files: string[];
  /** The number of lines that were read. */
  lines: number;
  /** The hash of the last line. Store it elsewhere, and pass it as `expect` later. */
  head: string;
  /** Empty if the log is intact. At most 100. */
  problems: AuditProblem[];
}

/**
 * Verifies an audit log with its rotated files: that every line has the correct hash, and the hash of the previous line.
 * Truncation is detected by the `.head` file, or by a hash of an earlier verification that the log lacks. Someone who can
 * modify all of them can truncate the log undetected.
 *
 * @param options - `expect` is a hash that one of the lines must have.
 * @throws CemError `FILE_NOT_FOUND`.
 */
export async function verifyAuditLog(
  file: string,
  { expect }: { expect?: string | undefined } = {},
): Promise<AuditVerification> {
  const files = [...listRotated(file), ...(fs.existsSync(file) ? [file] : [])];
  if (files.length === 0) {
    throw new CemError("FILE_NOT_FOUND", `There is no audit log ${file}.`, { details: { file } });
  }
  const check = new ChainCheck(expect);
  for (const current of files) {
    let number = 0;
    for await (const text of createInterface({ input: fs.createReadStream(current), crlfDelay: Infinity })) {
      number += 1;
      if (text !== "") check.read(text, { file: current, line: number });
    }
  }
  const known = fs.existsSync(headFile(file)) ? readHead(fs.readFileSync(headFile(file), "utf8")) : undefined;
  check.end(known, { file, noted: headFile(file) });
  return { files, lines: check.lines, head: check.head, problems: check.problems };
}
