import type { Redis } from "ioredis";
import type { Streams } from "./streams.ts";

/** After so long without a sign of life a peer counts as lost. */
const LOST_AFTER_MS = 10_000;
/** Five signs come before an earlier one ends to hold. */
const SIGN_EVERY_MS = LOST_AFTER_MS / 5;
/** A peer may be there before its sign, after a cut that all had. */
const MISSED_SIGNS = 2;
/** How long a message waits to be read: a peer that was cut off reads it afterwards. */
const KEEP_MESSAGES_MS = 120_000;

/** Settings of {@link Peers}. */
export interface PeersSettings {
  client: Redis;
  streams: Streams;
  /** The prefix of the group's names. */
  base: string;
  /** This one's name in the group. */
  name: string;
}

/** Processes of one kind that send each other messages: each has an inbox, and shows that it lives. */
export class Peers<Message> {
  readonly #settings: PeersSettings;
  #signing: NodeJS.Timeout | undefined;
  #stopFollowing: (() => void) | undefined;

  constructor(settings: PeersSettings) {
    this.#settings = settings;
  }

  /** Begins to receive messages, each once. */
  async join(receive: (message: Message) => void): Promise<void> {
    const { client, streams, name } = this.#settings;
    const sign = (): void => {
      client.set(this.#signOf(name), "1", "PX", LOST_AFTER_MS).catch(() => {});
    };
    this.#signing = setInterval(sign, SIGN_EVERY_MS);
    this.#signing.unref();
    sign();
    const inbox = this.#inboxOf(name);
    const read = (message: unknown, entry: string): void => {
      client.xdel(inbox, entry).catch(() => {});
      receive(message as Message);
    };
    this.#stopFollowing = await streams.follow(inbox, read);
  }

  async send(name: string, message: Message): Promise<void> {
    await this.#settings.streams.append(this.#inboxOf(name), [message], KEEP_MESSAGES_MS);
  }

  async lives(name: string): Promise<boolean> {
    return (await this.#settings.client.exists(this.#signOf(name))) === 1;
  }

  /** Looks again and again whether a peer is there, until it is lost or the watch is stopped. */
  watch(name: string, onLost: () => void): () => void {
    let missed = 0;
    const look = async (): Promise<void> => {
      const lives = await this.lives(name);
      missed = lives ? 0 : missed + 1;
      if (missed >= MISSED_SIGNS) onLost();
    };
    const watching = setInterval(() => void look().catch(() => {}), SIGN_EVERY_MS);
    watching.unref();
    return () => clearInterval(watching);
  }

  /** Stops its signs of life, and receives no more messages. */
  async leave(): Promise<void> {
    const { client, name } = this.#settings;
    clearInterval(this.#signing);
    this.#stopFollowing?.();
    await client.del(this.#signOf(name)).catch(() => {});
  }

  #signOf(name: string): string {
    return `${this.#settings.base}:${name}:lives`;
  }

  #inboxOf(name: string): string {
    return `${this.#settings.base}:${name}:inbox`;
  }
}
