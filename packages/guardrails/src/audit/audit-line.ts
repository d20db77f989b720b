import { createHash } from "node:crypto";

/** The hash before the first line. */
export const FIRST_HASH = "0".repeat(64);
const HASH_MEMBER = /,"hash":"([0-9a-f]{64})"\}$/;

/** What stands in each line beside its event. */
export interface LineFacts {
  /** The number of the line, from 1, over all files. */
  seq: number;
  time: string;
  /** The hash of the line before. */
  prev: string;
}

/** Writes a line: its members, and at its end the hash of all before. */
export function writeLine(facts: LineFacts, event: object): { line: string; hash: string } {
  const body = JSON.stringify({ seq: facts.seq, time: facts.time, ...event, prev: facts.prev });
  const hash = hashOf(body);
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}`, hash };
}

/** A line that was read, and whether its hash is that of its content. */
export interface ReadLine extends LineFacts {
  hash: string;
  isIntact: boolean;
}

/** @returns `undefined` for what is not a line of an audit log. */
export function readLine(line: string): ReadLine | undefined {
  const hash = HASH_MEMBER.exec(line)?.[1];
  if (hash === undefined) return undefined;
  const body = `${line.slice(0, -(',"hash":""'.length + hash.length + 1))}}`;
  try {
    const { seq, time, prev } = JSON.parse(body) as Partial<LineFacts>;
    if (typeof seq !== "number" || typeof time !== "string" || typeof prev !== "string") return undefined;
    return { seq, time, prev, hash, isIntact: hashOf(body) === hash };
  } catch {
    return undefined;
  }
}

function hashOf(body: string): string {
  return createHash("sha256").update(body).digest("hex");
}
