import { randomUUID } from "node:crypto";
import type { JsonObject, JsonValue } from "@cem/core";

/** Larger tool answers are not parsed on this thread. In bytes. */
export const LARGE_BYTES = 4 * 1024 * 1024;
/** Maximum total size of unread large answers in this process. In bytes. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;
/** Marks the error for an answer that is too large. Random, so that no server can send it. */
export const TOO_LARGE: string = randomUUID();
/** How long an answer is kept for its call, in milliseconds. A cancelled call does not take it. */
const TAKEN_MS = 10_000;
/** The member of a result that identifies an unparsed answer. */
const MEMBER = "cem:unread";

let heldBytes = 0;
const arrived = new Map<string, UnreadAnswer>();

/** Memory reservation for one tool answer while it arrives. */
export class AnswerRoom {
  #bytes = 0;

  holds(bytes: number): boolean {
    const more = Math.max(0, bytes - LARGE_BYTES) - this.#bytes;
    if (more > 0 && heldBytes + more > MAX_HELD_BYTES) return false;
    heldBytes += more;
    this.#bytes += more;
    return true;
  }

  release(): void {
    this.holds(0);
  }

  /** A protocol message that stands in for the answer with these bytes. */
  standIn(id: JsonValue, bytes: Uint8Array): JsonObject & { id: never } {
    const name = randomUUID();
    const heldNow = this.#bytes;
    this.#bytes = 0;
    const forget = (): void => {
      if (arrived.delete(name)) heldBytes -= heldNow;
    };
    const timer = setTimeout(forget, TAKEN_MS).unref();
    const release = (): void => void (heldBytes -= heldNow);
    arrived.set(name, { bytes, release, timer });
    return {
      jsonrpc: "2.0",
      id: id as never,
      result: { resultType: "complete", content: [], [MEMBER]: name },
    };
  }
}

export interface UnreadAnswer {
  bytes: Uint8Array;
  /** Releases its reservation. */
  release: () => void;
  timer?: NodeJS.Timeout;
}

/** Takes the answer that a result stands in for, once. `undefined` for any other result. */
export function takeUnread({ [MEMBER]: name }: Record<string, unknown>): UnreadAnswer | undefined {
  const answer = arrived.get(String(name));
  clearTimeout(answer?.timer);
  arrived.delete(String(name));
  return answer;
}
