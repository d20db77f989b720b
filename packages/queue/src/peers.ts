import { abandonOnAbort } from "@cem/core";
import type { Redis } from "ioredis";
import type { Streams } from "./streams.ts";

/** After so long without a sign of life a peer counts as lost. */
const LOST_AFTER_MS = 10_000;
/** Five signs come before an earlier one ends to hold. */
const SIGN_EVERY_MS = LOST_AFTER_MS / 5;
/** A peer may be there before its sign, after a cut that all had. */
const MISSED_SIGNS = 2;
/** A Redis that hangs does not keep a process: others find its signs to have stopped. */
const LEAVE_MS = 2_000;
/** How long a message waits to be read: a peer that was cut off reads it afterwards. */
const KEEP_MESSAGES_MS = 120_000;

/**
 * Joins processes of one kind that send each other messages: each has an inbox, and shows that it lives.
 *
 * @param base - The prefix of the group's names.
 * @param own - This one's name in the group.
 */
export function createPeers<Message>(client: Redis, streams: Streams, base: string, own: string) {
  let signing: NodeJS.Timeout | undefined;
  let stopFollowing: (() => void) | undefined;

  async function lives(name: string): Promise<boolean> {
    return (await client.exists(signOf(name))) === 1;
  }

  function signOf(name: string): string {
    return `${base}:${name}:lives`;
  }

  function inboxOf(name: string): string {
    return `${base}:${name}:inbox`;
  }

  return {
    /** Begins to receive messages, each once. */
    async join(receive: (message: Message) => void): Promise<void> {
      const sign = (): void => {
        client.set(signOf(own), "1", "PX", LOST_AFTER_MS).catch(() => {});
      };
      signing = setInterval(sign, SIGN_EVERY_MS).unref();
      sign();
      const inbox = inboxOf(own);
      const read = (message: unknown, entry: string): void => {
        client.xdel(inbox, entry).catch(() => {});
        receive(message as Message);
      };
      stopFollowing = await streams.follow(inbox, read);
    },
    async send(name: string, message: Message): Promise<void> {
      await streams.append(inboxOf(name), [message], KEEP_MESSAGES_MS);
    },
    lives,
    /** Looks again and again whether a peer is there, until it is lost or the watch is stopped. */
    watch(name: string, onLost: () => void): () => void {
      let missed = 0;
      const look = async (): Promise<void> => {
        missed = (await lives(name)) ? 0 : missed + 1;
        if (missed >= MISSED_SIGNS) onLost();
      };
      const watching = setInterval(() => void look().catch(() => {}), SIGN_EVERY_MS).unref();
      return () => clearInterval(watching);
    },
    /** Stops its signs of life, and receives no more messages. */
    async leave(): Promise<void> {
      clearInterval(signing);
      stopFollowing?.();
      await abandonOnAbort(client.del(signOf(own)), AbortSignal.timeout(LEAVE_MS)).catch(() => {});
    },
  };
}
