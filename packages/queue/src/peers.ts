import { abandonOnAbort } from "@cem/core";
import type { Redis } from "ioredis";
import type { Streams } from "./streams.ts";

/** Time without a heartbeat after which a peer counts as lost. */
const LOST_AFTER_MS = 10_000;
/** Interval of heartbeats: five within the time after which a peer counts as lost. */
const SIGN_EVERY_MS = LOST_AFTER_MS / 5;
/**
 * Number of missing heartbeats after which a peer counts as lost: after an outage for all, a peer may be back before
 * its heartbeat.
 */
const MISSED_SIGNS = 2;
/** How long leaving may take: a hanging Redis must not delay the process. Others notice the missing heartbeats. */
const LEAVE_MS = 2_000;
/** How long an unread message is kept: a peer that was disconnected reads it afterwards. */
const KEEP_MESSAGES_MS = 120_000;

/**
 * Joins a group of processes that send each other messages: each has an inbox and sends heartbeats.
 *
 * @param base - The prefix of the group's names.
 * @param own - The name of this process in the group.
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
    /** Starts to receive messages, each exactly once. */
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
    /** Checks a peer periodically until it is lost or the watch is stopped. */
    watch(name: string, onLost: () => void): () => void {
      let missed = 0;
      const look = async (): Promise<void> => {
        missed = (await lives(name)) ? 0 : missed + 1;
        if (missed >= MISSED_SIGNS) onLost();
      };
      const watching = setInterval(() => void look().catch(() => {}), SIGN_EVERY_MS).unref();
      return () => clearInterval(watching);
    },
    /** Stops its heartbeats and receives no more messages. */
    async leave(): Promise<void> {
      clearInterval(signing);
      stopFollowing?.();
      await abandonOnAbort(client.del(signOf(own)), AbortSignal.timeout(LEAVE_MS)).catch(() => {});
    },
  };
}
