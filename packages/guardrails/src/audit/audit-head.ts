import { FIRST_HASH } from "./audit-line.ts";

/** Where an audit log ends: kept beside it, so that a tail that was cut off is missed. */
export interface AuditHead {
  /** The number of the last line. */
  seq: number;
  /** The hash of the last line. */
  hash: string;
  /** The size of the current file, in bytes. */
  size: number;
}

export const EMPTY_HEAD: AuditHead = { seq: 0, hash: FIRST_HASH, size: 0 };
/** A head has always the same length, so that a shorter one never leaves the end of a longer one. */
const HEAD = /^(\d{15}) (\d{15}) ([0-9a-f]{64})\n/;

/** The file of an audit log's head. */
export function headFile(file: string): string {
  return `${file}.head`;
}

export function writeHead({ seq, size, hash }: AuditHead): string {
  return `${digits(seq)} ${digits(size)} ${hash}\n`;
}

/** @returns `undefined` for what is not a head. */
export function readHead(text: string): AuditHead | undefined {
  const [, seq, size, hash] = HEAD.exec(text) ?? [];
  return hash === undefined ? undefined : { seq: Number(seq), size: Number(size), hash };
}

function digits(count: number): string {
  return String(count).padStart(15, "0");
}
