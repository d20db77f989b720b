import { hash } from "node:crypto";
import type { AuditEvent } from "@cem/core";

/** The hash before the first line. */
export const FIRST_HASH = "0".repeat(64);
const HASH_MEMBER = /,"hash":"([0-9a-f]{64})"\}$/;

/** Fields of each line in addition to its event. */
interface LineFacts {
  /** The number of the line, from 1, over all files. */
  seq: number;
  time: string;
  /** The hash of the previous line. */
  prev: string;
}

/** Serializes a line: its members, followed by a hash of them. */
export function writeLine(facts: LineFacts, event: object): { line: string; hash: string } {
  const body = JSON.stringify({ seq: facts.seq, time: facts.time, ...event, prev: facts.prev });
  const hash = hashOf(body);
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}`, hash };
}

/** Parses a line, and checks whether its hash matches its content. `undefined` if it is not a line of an audit log. */
export function readLine(line: string) {
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
  return hash("sha256", body);
}

const MAX_PROBLEMS = 100;
const SESSION_DIGITS = 16;

/** A problem of an audit log. */
export interface AuditProblem {
  /** The file, or the location of the store. */
  file: string;
  /** The line in the file, from 1. Absent if lines are missing at the end. */
  line?: number | undefined;
  message: string;
}

type Place = Pick<AuditProblem, "file"> & { line: number };

/** Checks the lines of an audit log one after another. */
export class ChainCheck {
  readonly problems: AuditProblem[] = [];
  lines = 0;
  /** The expected hash. Absent once it was found. */
  #expect: string | undefined;
  #prev: string | undefined;
  #seq = 0;

  /** @param expect - A hash that one of the lines must have. */
  constructor(expect: string | undefined) {
    this.#expect = expect;
  }

  /** The hash of the last line. */
  get head(): string {
    return this.#prev ?? FIRST_HASH;
  }

  add(problem: AuditProblem): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problem);
  }

  read(text: string, place: Place): void {
    this.lines += 1;
    const line = readLine(text);
    if (line === undefined || !line.isIntact) this.add({ ...place, message: "This line was changed." });
    if (line === undefined) {
      this.#prev = undefined;
      return;
    }
    if (this.lines === 1) {
      this.#prev = line.seq === 1 ? FIRST_HASH : line.prev;
      if (line.seq !== 1) {
        const message = `The log begins with line ${line.seq}: earlier ${place.line === 1 ? "files" : "lines"} are missing.`;
        this.add({ ...place, message });
      }
    }
    if (this.#prev !== undefined && line.prev !== this.#prev) {
      const missing = line.seq - this.#seq - 1;
      const message =
        missing > 0
          ? `${counted(missing)} missing before this one.`
          : "This line does not follow the one before it.";
      this.add({ ...place, message });
    }
    if (line.hash === this.#expect) this.#expect = undefined;
    ({ hash: this.#prev, seq: this.#seq } = line);
  }

  /** Checks the end against the last line according to the head file. */
  end(
    known: { seq: number; hash: string } | undefined,
    { file, noted }: { file: string; noted: string },
  ): void {
    if (known === undefined)
      this.add({ file: noted, message: "The head is missing: lines may be cut off at the end." });
    else if (known.seq > this.#seq)
      this.add({ file, message: `${counted(known.seq - this.#seq)} missing at the end.` });
    else if (known.seq === this.#seq && known.hash !== this.head)
      this.add({ file, message: "The last line is not the one that was written last." });
    if (this.#expect !== undefined)
      this.add({ file, message: "The line with the expected hash is missing." });
  }
}

/** Replaces a session's id by a digest, since the id may serve as a credential. */
export function withoutSession(event: AuditEvent): AuditEvent {
  if (event.session === undefined) return event;
  return { ...event, session: hashOf(event.session).slice(0, SESSION_DIGITS) };
}

function counted(lines: number): string {
  return lines === 1 ? "1 line is" : `${lines} lines are`;
}
