import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createOpenCustomers } from "./open-customers.ts";
import type { OpenCustomer, OpenCustomers } from "./open-customers.ts";

let dir: string;
let customers: OpenCustomers<string>;
let opened: Map<string, OpenCustomer<string>>;
let gone: Set<string>;
let log: string[];

/** Customers whose hosts are their ids. */
function setUp(limits: { maxOpen?: number; idleMs?: number } = {}): void {
  opened = new Map();
  gone = new Set();
  log = [];
  customers = createOpenCustomers<string>({
    dir,
    store: undefined,
    maxOpen: limits.maxOpen ?? 2,
    idleMs: limits.idleMs ?? 60_000,
    async open(id) {
      log.push(`open ${id}`);
      const customer: OpenCustomer<string> = {
        host: id,
        incarnation: undefined,
        activity: { busy: 0, used: performance.now() },
        isThere: async () => !gone.has(id),
        dispose: async () => void log.push(`dispose ${id}`),
        forget: async () => void log.push(`forget ${id}`),
      };
      opened.set(id, customer);
      return customer;
    },
  });
}

/** Does as a request that has ended would. */
async function use(id: string): Promise<void> {
  await customers.get(id);
  const customer = opened.get(id);
  if (customer !== undefined) customer.activity.used = performance.now() + 0.001;
}

beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), "cem-open-"));
});
afterEach(async () => {
  await customers.dispose();
  await rm(dir, { recursive: true, force: true });
});

describe("createOpenCustomers", () => {
  it("opens each customer once, however many requests come at once", async () => {
    setUp();
    expect(await Promise.all(["ada", "ada", "bob", "ada"].map((id) => customers.get(id)))).toEqual([
      "ada",
      "ada",
      "bob",
      "ada",
    ]);
    expect(log).toEqual(["open ada", "open bob"]);
    expect(customers.size).toBe(2);
  });

  it("lets the longest idle go where there is no room", async () => {
    setUp();
    await use("ada");
    await use("bob");
    await use("ada");
    await use("eve");
    await vi.waitFor(() => expect(log).toContain("dispose bob"));
    expect(customers.size).toBe(2);
  });

  it("has no more open than may be, however many come at once, and opens none that was let go for nothing", async () => {
    setUp();
    await use("ada");
    await use("bob");
    const burst = ["c1", "c2", "c3", "c4", "c5"].map((id) => customers.get(id));
    const settled = await Promise.allSettled(burst);
    expect(customers.size).toBe(2);
    const { length } = settled.filter(({ status }) => status === "fulfilled");
    expect(length).toBe(2);
    expect(log.filter((line) => line.startsWith("open c"))).toHaveLength(2);
  });

  it("opens a customer anew who was let go while it was looked whether they are there", async () => {
    setUp({ maxOpen: 1 });
    await use("ada");
    const ada = opened.get("ada");
    const looked = Promise.withResolvers<boolean>();
    if (ada !== undefined) ada.isThere = () => looked.promise;
    const again = customers.get("ada");
    await use("bob");
    looked.resolve(true);
    expect(await again).toBe("ada");
    expect(log.filter((line) => line === "open ada")).toHaveLength(2);
  });

  it("refuses another while all are at work, also those whose request has not begun", async () => {
    setUp();
    await use("ada");
    await customers.get("bob");
    const ada = opened.get("ada");
    if (ada !== undefined) ada.activity.busy = 1;
    await expect(customers.get("eve")).rejects.toMatchObject({
      code: "RATE_LIMITED",
      details: { customers: 2 },
    });
  });

  it("lets idle customers go after a while, and none at work", async () => {
    setUp({ idleMs: 40 });
    await use("ada");
    await use("bob");
    const bob = opened.get("bob");
    if (bob !== undefined) bob.activity.busy = 1;
    await vi.waitFor(() => expect(log).toContain("dispose ada"));
    expect(log).not.toContain("dispose bob");
  });

  it("ends what is open of a deleted customer, and opens the next anew", async () => {
    setUp();
    await use("ada");
    gone.add("ada");
    expect(await customers.get("ada")).toBe("ada");
    gone.delete("ada");
    await vi.waitFor(() => expect(log).toContain("forget ada"));
    expect(log.toSorted()).toEqual(["dispose ada", "forget ada", "open ada", "open ada"]);
  });

  it("opens again after a failure", async () => {
    setUp();
    const failing = createOpenCustomers<string>({
      dir,
      store: undefined,
      maxOpen: 1,
      idleMs: 60_000,
      open: vi.fn<() => Promise<OpenCustomer<string>>>().mockRejectedValueOnce(new Error("no disk")),
    });
    await expect(failing.get("ada")).rejects.toThrow("no disk");
    expect(failing.size).toBe(0);
    await failing.dispose();
  });

  it("has what is too old removed, also of customers who don't come", async () => {
    setUp();
    const tidy = vi.fn<() => Promise<void>>(async () => {}).mockRejectedValueOnce(new Error("no disk"));
    const open = vi.fn<() => Promise<OpenCustomer<string>>>();
    const looking = createOpenCustomers<string>({
      dir,
      store: undefined,
      maxOpen: 1,
      idleMs: 40,
      open,
      tidy,
    });
    await vi.waitFor(() => expect(tidy.mock.calls.length).toBeGreaterThan(1));
    await looking.dispose();
    expect(open).not.toHaveBeenCalled();
  });
});
