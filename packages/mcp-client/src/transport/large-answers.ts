import { randomUUID } from "node:crypto";
import type { JsonObject, JsonValue } from "@cem/core";

/** Answers of tools that are larger are not parsed on this thread. In bytes. */
export const LARGE_BYTES = 4 * 1024 * 1024;
/** Bytes of large answers that this process has at once, of all servers. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;
/** The data of the error in place of an answer that is too large. No server knows it. */
export const TOO_LARGE: string = randomUUID();
/** The time in which a call takes its answer, in milliseconds. One that was cancelled takes none. */
const TAKEN_MS = 10_000;
/** The member of a result that names an answer which was not parsed. */
const MEMBER = "cem:unread";

let heldBytes = 0;
const arrived = new Map<string, UnreadAnswer>();

/** Room for one answer of a tool while it arrives. */
export class AnswerRoom {
  #bytes = 0;

  /** Whether the answer may have so many bytes. */
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

  /** The answer as the protocol has it, in place of one with these bytes. */
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

/** An answer of a tool that was not parsed. */
export interface UnreadAnswer {
  /** The message, as it came. */
  bytes: Uint8Array;
  /** Makes room for others. */
  release: () => void;
  timer?: NodeJS.Timeout;
}

/** Takes the answer that a result stands for, once. `undefined` for any other result. */
export function takeUnread({ [MEMBER]: name }: Record<string, unknown>): UnreadAnswer | undefined {
  const answer = arrived.get(String(name));
  clearTimeout(answer?.timer);
  arrived.delete(String(name));
  return answer;
}
