import { watch, type FSWatcher } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { CemError, type Lazy, type Store } from "@cem/core";
import { isIncarnationThere, customerGone } from "./shared-customer.ts";

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
  /** The number of running requests, and when the last one began or ended, on the clock of `performance.now()`. */
  readonly activity: { busy: number; used: number };
  /** Whether the customer still exists. */
  isThere(): Promise<boolean>;
  dispose(): Promise<void>;
  /** Called after it is disposed if the customer was deleted. */
  forget(): Promise<void>;
}

/** Settings of {@link createOpenCustomers}. */
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

/** The active customers of a process. */
export type OpenCustomers<Host> = ReturnType<typeof createOpenCustomers<Host>>;

/**
 * Opens the active customers of a process, each with its own host: guests, connections, caches and values are never shared.
 * The longest-idle ones are disposed first.
 */
export function createOpenCustomers<Host>(settings: OpenCustomersSettings<Host>) {
  type Customer = OpenCustomer<Host>;
  const { idleMs, maxOpen } = settings;
  const customers = new Map<string, Promise<Customer>>();
  const handedOut = new WeakMap<Customer, number>();
  const closing = new Set<Promise<void>>();
  const timer = setInterval(() => void sweep(), idleMs / SWEEPS_PER_IDLE_TIME).unref();
  let watcher: FSWatcher | undefined;

  async function find(id: string): Promise<Customer> {
    let opening = customers.get(id);
    if (opening !== undefined) await closeDeleted(id, opening);
    // Repeated, since other requests may take the free slot while this waits.
    while ((opening = customers.get(id)) === undefined && customers.size >= maxOpen) await makeRoom();
    if (opening === undefined) {
      opening = openCustomer(id);
      customers.set(id, opening);
      opening.catch(() => customers.delete(id));
    }
    const opened = await opening;
    handedOut.set(opened, performance.now());
    return opened;
  }

  async function openCustomer(id: string): Promise<Customer> {
    const opened = await settings.open(id);
    handedOut.set(opened, performance.now());
    watchFolder();
    return opened;
  }

  /** Closes a customer that was deleted by this or another process. */
  async function closeDeleted(id: string, opening: Promise<Customer>): Promise<void> {
    const opened = await opening.catch(() => undefined);
    if (opened === undefined || (await opened.isThere()) || customers.get(id) !== opening) return;
    customers.delete(id);
    // Runs end by themselves now, with the reason.
    const ended = idleOf(opened, DELETED_GRACE_MS);
    close(ended.then(() => opened.dispose()).then(() => opened.forget()));
  }

  /** Watches for customers that are deleted while they are active. */
  function watchFolder(): void {
    if (watcher !== undefined) return;
    watcher = watch(settings.dir, { persistent: false }, (_, name) => {
      const opening = name === null ? undefined : customers.get(name);
      if (name !== null && opening !== undefined) void closeDeleted(name, opening);
    });
    // The next request of a customer checks too.
    watcher.on("error", () => watcher?.close());
  }

  /** Disposes the longest-idle customer if there is no room for another. */
  async function makeRoom(): Promise<void> {
    const opened = await allOpened();
    if (customers.size < maxOpen) return;
    const idle = opened.filter(({ id, customer }) => customers.has(id) && isIdle(customer));
    const [longest] = idle.toSorted(
      (one, other) => one.customer.activity.used - other.customer.activity.used,
    );
    if (longest === undefined) {
      const message = `${customers.size} customers are at work, the most that are served at once. Try again soon.`;
      throw new CemError("RATE_LIMITED", message, { details: { customers: customers.size } });
    }
    leave(longest.id);
  }

  async function sweep(): Promise<void> {
    await settings.tidy?.().catch(() => {});
    const before = performance.now() - idleMs;
    for (const { id, customer } of await allOpened())
      if (isIdle(customer) && customer.activity.used < before) leave(id);
  }

  function isIdle(customer: Customer): boolean {
    const { busy, used } = customer.activity;
    const handedOutAt = handedOut.get(customer) ?? 0;
    return busy === 0 && (used > handedOutAt || performance.now() - handedOutAt > HANDED_OUT_MS);
  }

  async function allOpened(): Promise<{ id: string; customer: Customer }[]> {
    const all = [...customers].map(async ([id, opening]) => ({ id, customer: await opening }));
    const settled = await Promise.allSettled(all);
    return settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  /** Disposes a customer's host after its running requests. The next request opens a new one. */
  function leave(id: string): void {
    const opening = customers.get(id);
    if (opening === undefined) return;
    customers.delete(id);
    close(opening.then((customer) => idleOf(customer).then(() => customer.dispose())));
  }

  function close(work: Promise<void>): void {
    const closed = work.catch(() => {}).finally(() => closing.delete(closed));
    closing.add(closed);
  }

  return {
    /** How many customers are open. */
    get size(): number {
      return customers.size;
    },
    /**
     * Returns the host of a customer, opening it if needed.
     *
     * @param id - Already validated or derived.
     * @throws CemError `RATE_LIMITED` if the maximum number of customers is active.
     */
    get: async (id: string) => (await find(id)).host,
    /**
     * Returns the host of a customer, unless it was deleted since.
     *
     * @param incarnation - Absent if unknown.
     * @throws CemError `RATE_LIMITED`, or `OWNER_GONE` if the incarnation is a different one.
     */
    async getSame(id: string, incarnation: string | undefined): Promise<Host> {
      const found = await find(id);
      const store = await settings.store?.get();
      if (store === undefined || incarnation === undefined || found.incarnation === incarnation)
        return found.host;
      if (await isIncarnationThere(store, id, incarnation)) return found.host;
      throw customerGone(id);
    },
    async dispose(): Promise<void> {
      clearInterval(timer);
      watcher?.close();
      const opening = allOpened();
      customers.clear();
      const opened = await opening;
      await Promise.allSettled(opened.map(({ customer }) => customer.dispose()));
      await Promise.allSettled(closing);
    },
  };
}

/** Resolves when a customer is idle, or after the timeout. */
async function idleOf(
  { activity }: Pick<OpenCustomer<unknown>, "activity">,
  timeoutMs = Infinity,
): Promise<void> {
  const until = performance.now() + timeoutMs;
  while (activity.busy > 0 && performance.now() < until) await delay(BUSY_POLL_MS, undefined, { ref: false });
}
