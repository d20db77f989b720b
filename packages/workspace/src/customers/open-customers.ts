import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { Lazy, Store } from "@cem/core";
import { isIncarnationThere, ownerGone } from "./shared-owner.ts";

const SWEEPS_PER_IDLE_TIME = 4;
const BUSY_POLL_MS = 100;
/** How long a host counts as busy after it was handed out, until its first request begins. */
const HANDED_OUT_MS = 1_000;
/** How long runs of a deleted customer have to notice the deletion. */
const DELETED_GRACE_MS = 2_000;

/** A customer with its own host. */
export interface OpenCustomer<Host> {
  host: Host;
  /** Distinguishes a customer from a deleted one with the same id. Absent if machines share no store. */
  incarnation: string | undefined;
  /** Number of running requests. */
  readonly busy: number;
  /** When the last request began or ended, on the clock of `performance.now()`. */
  readonly used: number;
  /** Whether the customer still exists. */
  isThere(): Promise<boolean>;
  dispose(): Promise<void>;
  /** Called after it is disposed if the customer was deleted. */
  forget(): Promise<void>;
}

/** Settings of {@link OpenCustomers}. */
export interface OpenCustomersSettings<Host> {
  /** The folder with one folder for each customer. */
  dir: string;
  store: Lazy<Store> | undefined;
  /** Maximum number of open customers. */
  maxOpen: number;
  idleMs: number;
  open(id: string): Promise<OpenCustomer<Host>>;
  /** Called occasionally to remove leftovers of deleted customers and old data. */
  tidy?(): Promise<void>;
}

/**
 * The active customers of a process, each with its own host: guests, connections, caches and values are never shared. The
 * longest-idle ones are disposed first.
 */
export class OpenCustomers<Host> {
  readonly #settings: OpenCustomersSettings<Host>;
  readonly #open = new Map<string, Promise<OpenCustomer<Host>>>();
  readonly #handedOut = new WeakMap<OpenCustomer<Host>, number>();
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new Set<Promise<void>>();
  #watcher: FSWatcher | undefined;

  constructor(settings: OpenCustomersSettings<Host>) {
    this.#settings = settings;
    const { idleMs } = settings;
    this.#timer = setInterval(() => void this.#sweep(idleMs), idleMs / SWEEPS_PER_IDLE_TIME).unref();
  }

  /** How many customers are open. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Returns the host of a customer, opening it if needed.
   *
   * @param id - Already validated or derived.
   * @throws CemError `RATE_LIMITED` if the maximum number of customers is active.
   */
  async get(id: string): Promise<Host> {
    return (await this.#find(id)).host;
  }

  /**
   * Returns the host of a customer, unless it was deleted since.
   *
   * @param incarnation - Absent if unknown.
   * @throws CemError `RATE_LIMITED`, or `OWNER_GONE` if the incarnation is a different one.
   */
  async getSame(id: string, incarnation: string | undefined): Promise<Host> {
    const found = await this.#find(id);
    const store = await this.#settings.store?.get();
    if (store === undefined || incarnation === undefined || found.incarnation === incarnation)
      return found.host;
    if (await isIncarnationThere(store, id, incarnation)) return found.host;
    throw ownerGone(id);
  }

  async dispose(): Promise<void> {
    clearInterval(this.#timer);
    this.#watcher?.close();
    const opening = this.#opened();
    this.#open.clear();
    const opened = await opening;
    await Promise.allSettled(opened.map(({ customer }) => customer.dispose()));
    await Promise.allSettled(this.#closing);
  }

  async #find(id: string): Promise<OpenCustomer<Host>> {
    let opening = this.#open.get(id);
    if (opening !== undefined) await this.#isThere(id, opening);
    // Repeated, since other requests may take the free slot while this waits.
    while ((opening = this.#open.get(id)) === undefined && this.size >= this.#settings.maxOpen)
      await this.#makeRoom();
    if (opening === undefined) {
      opening = this.#openOwner(id);
      this.#open.set(id, opening);
      opening.catch(() => this.#open.delete(id));
    }
    const opened = await opening;
    this.#handedOut.set(opened, performance.now());
    return opened;
  }

  async #openOwner(id: string): Promise<OpenCustomer<Host>> {
    const opened = await this.#settings.open(id);
    this.#handedOut.set(opened, performance.now());
    this.#watch();
    return opened;
  }

  /** Closes a customer that was deleted by this or another process. */
  async #isThere(id: string, opening: Promise<OpenCustomer<Host>>): Promise<boolean> {
    const opened = await opening.catch(() => undefined);
    if (opened === undefined || (await opened.isThere())) return true;
    if (this.#open.get(id) !== opening) return false;
    this.#open.delete(id);
    // Runs end by themselves now, with the reason.
    const ended = idleOf(opened, DELETED_GRACE_MS);
    this.#close(ended.then(() => opened.dispose()).then(() => opened.forget()));
    return false;
  }

  /** Watches for customers that are deleted while they are active. */
  #watch(): void {
    if (this.#watcher !== undefined) return;
    this.#watcher = watch(this.#settings.dir, { persistent: false }, (_, name) => {
      const opening = name === null ? undefined : this.#open.get(name);
      if (name !== null && opening !== undefined) void this.#isThere(name, opening);
    });
    // The next request of a customer checks too.
    this.#watcher.on("error", () => this.#watcher?.close());
  }

  /** Disposes the longest-idle customer if there is no room for another. */
  async #makeRoom(): Promise<void> {
    const opened = await this.#opened();
    if (this.size < this.#settings.maxOpen) return;
    const idle = opened.filter(({ id, customer }) => this.#open.has(id) && this.#isIdle(customer));
    const [longest] = idle.toSorted((one, other) => one.customer.used - other.customer.used);
    if (longest === undefined) {
      const message = `${this.#open.size} customers are at work, the most that are served at once. Try again soon.`;
      throw new CemError("RATE_LIMITED", message, { details: { customers: this.#open.size } });
    }
    this.#leave(longest.id);
  }

  async #sweep(idleMs: number): Promise<void> {
    await this.#settings.tidy?.().catch(() => {});
    const before = performance.now() - idleMs;
    for (const { id, customer } of await this.#opened())
      if (this.#isIdle(customer) && customer.used < before) this.#leave(id);
  }

  #isIdle(customer: OpenCustomer<Host>): boolean {
    const handedOut = this.#handedOut.get(customer) ?? 0;
    const hasBegun = customer.used > handedOut || performance.now() - handedOut > HANDED_OUT_MS;
    return customer.busy === 0 && hasBegun;
  }

  async #opened(): Promise<{ id: string; customer: OpenCustomer<Host> }[]> {
    const all = [...this.#open].map(async ([id, opening]) => ({ id, customer: await opening }));
    const settled = await Promise.allSettled(all);
    return settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  /** Disposes a customer's host after its running requests. The next request opens a new one. */
  #leave(id: string): void {
    const opening = this.#open.get(id);
    if (opening === undefined) return;
    this.#open.delete(id);
    this.#close(opening.then((customer) => idleOf(customer).then(() => customer.dispose())));
  }

  #close(closing: Promise<void>): void {
    const closed = closing.catch(() => {}).finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}

/** Resolves when a customer is idle, or after the timeout. */
async function idleOf(customer: { readonly busy: number }, timeoutMs = Infinity): Promise<void> {
  const until = performance.now() + timeoutMs;
  while (customer.busy > 0 && performance.now() < until) await delay(BUSY_POLL_MS, undefined, { ref: false });
}
