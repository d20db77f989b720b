import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { RunStop, RunTicket, Store } from "@cem/core";
import { createFolderStore, parseSealingKeys, sealStore } from "@cem/store";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createCustomerFolders } from "./customer-folders.ts";
import type { CustomerFolders } from "./customer-folders.ts";
import { digestOf } from "./quotas.ts";
import type { CustomerQuota } from "./quotas.ts";
import { createRunMeter } from "./run-meter.ts";
import { customerKey } from "./shared-customer.ts";

const isTicket = (admitted: RunTicket | RunStop): admitted is RunTicket => "settle" in admitted;
const HOUR: CustomerQuota[] = [{ per: "hour", runs: 7 }];
const run = { spentMs: () => 0, stop: () => {} };

let place: string;
const stores: Store[] = [];

interface Machine {
  root: string;
  store: Store;
  folders: CustomerFolders;
}

/** A machine with folders and a connection of its own. */
function machine(
  name: string,
  quotas: readonly CustomerQuota[] = HOUR,
  removeMore?: (id: string) => Promise<boolean>,
): Machine {
  const store = createFolderStore({ folder: path.join(place, "store") });
  stores.push(store);
  const root = path.join(place, name);
  return { root, store, folders: createCustomerFolders(root, { quotas, store, noticeMs: 0, removeMore }) };
}

async function meterOf({ folders, store }: Machine, quotas: readonly CustomerQuota[] = HOUR) {
  const { home } = await folders.open("ada");
  return createRunMeter({ home, quotas, store });
}

beforeEach(async () => {
  place = await mkdtemp(path.join(os.tmpdir(), "cem-shared-"));
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await rm(place, { recursive: true, force: true });
});

describe("a customer whose usage can't be opened", () => {
  const [clear, sealed] = [
    (store: Store) => store,
    (store: Store) => sealStore(store, parseSealingKeys(`k1:${"A".repeat(43)}=`)),
  ];

  it.each([
    ["was written without keys", sealed, clear],
    ["is sealed, and there is no key", clear, sealed],
  ])("runs nothing, is listed and deleted, and comes back: %s", async (_, own, others) => {
    const one = machine("a");
    const store = own(one.store);
    const folders = createCustomerFolders(one.root, { quotas: HOUR, store, noticeMs: 0 });
    const quotas = ["quotas", digestOf("ada")];
    await others(one.store).write(quotas, Buffer.from('{"hour":{}}'));
    await others(one.store).write(customerKey("ada", "used"), Buffer.from("1"));
    expect(await folders.usage("ada")).toMatchObject({ id: "ada", quotas: undefined });
    expect(await folders.inactive(0)).toEqual([]);
    const before = await one.store.read(quotas);
    const meter = await meterOf({ ...one, folders, store });
    for (const answer of [await meter.check(), await meter.admit()])
      expect(answer).toMatchObject({ code: "STORE_SEALED" });
    expect(await one.store.read(quotas)).toEqual(before);
    await folders.remove("ada");
    expect(isTicket(await (await meterOf({ ...one, folders, store })).admit())).toBe(true);
  });
});

describe("a customer's quota on several machines", () => {
  it("is one, however many runs begin at the same time", async () => {
    const machines = ["a", "b", "c"].map((name) => machine(name));
    const meters = await Promise.all(machines.map((one) => meterOf(one)));
    const admitted = await Promise.all(
      meters.flatMap((meter) => Array.from({ length: 6 }, () => meter.admit())),
    );
    expect(admitted.filter(isTicket)).toHaveLength(7);
    expect(admitted.find((one) => !isTicket(one))).toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(await meters[2]?.check()).toMatchObject({ code: "QUOTA_EXCEEDED" });
    for (const one of admitted) if (isTicket(one)) await one.settle();
    expect((await machines[1]?.folders.usage("ada"))?.quotas).toMatchObject([{ runs: 7, maxRuns: 7 }]);
  });

  it("counts seconds of all, and gives back what was not used", async () => {
    const quotas: CustomerQuota[] = [{ per: "hour", seconds: 3 }];
    const [one, two] = [machine("a", quotas), machine("b", quotas)];
    const meters = [await meterOf(one, quotas), await meterOf(two, quotas)];
    for (const [at, spent] of [1_000, 1_500, 400].entries()) {
      const ticket = await meters[at % 2]?.admit();
      if (ticket === undefined || !isTicket(ticket)) throw new Error("refused");
      ticket.watch({ spentMs: () => spent, stop: () => {} });
      await ticket.settle();
    }
    expect((await two.folders.usage("ada")).quotas).toMatchObject([{ seconds: 2.9 }]);
  });

  it("does not go by the clocks of the machines", async () => {
    const one = machine("a");
    const { home } = await one.folders.open("ada");
    const meter = createRunMeter({ home, quotas: HOUR, store: one.store });
    for (let at = 0; at < 7; at += 1) expect(isTicket(await meter.admit())).toBe(true);
    const now = await one.store.now();
    const store = { ...one.store, now: async () => now };
    vi.useFakeTimers({ toFake: ["Date"], now: now + 5 * 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const skewed = createRunMeter({ home, quotas: HOUR, store });
    expect(await skewed.admit()).toMatchObject({ code: "QUOTA_EXCEEDED" });
  });

  it("refuses runs while the store can't be used, and says so", async () => {
    const one = machine("a");
    const meter = await meterOf(one);
    const broken = createRunMeter({
      home: path.join(one.root, "ada"),
      quotas: HOUR,
      store: createFolderStore({ folder: "/dev/null/store" }),
    });
    for (const answer of [await broken.check(), await broken.admit()])
      expect(answer).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(isTicket(await meter.admit())).toBe(true);
  });
});

describe("a customer who is deleted on one machine", () => {
  it("is gone on the others: runs, folders, and all that the store has", async () => {
    const [one, two] = [machine("a"), machine("b")];
    const meter = await meterOf(two);
    await one.folders.open("ada");
    const ticket = await meter.admit();
    await two.store.write(customerKey("ada", "vaults", "x"), Buffer.from("secret"));
    const stopped = new Promise<RunStop>((resolve) => {
      if (isTicket(ticket)) ticket.watch({ ...run, stop: resolve });
    });
    await one.folders.remove("ada");
    expect(await stopped).toMatchObject({ code: "OWNER_GONE" });
    if (isTicket(ticket)) await ticket.settle();
    expect(await one.store.list(["customers"])).toEqual([]);
    expect(existsSync(path.join(two.root, "ada"))).toBe(true);
    await two.folders.removeDeleted();
    expect(await readdir(two.root)).toEqual([]);
    await expect(one.folders.remove("ada")).rejects.toMatchObject({ code: "CUSTOMER_NOT_FOUND" });
  });

  it("begins with nothing when they come back, on every machine", async () => {
    const [one, two] = [machine("a"), machine("b")];
    const { workspaceDir } = await two.folders.open("ada");
    await writeFile(path.join(workspaceDir, "left.txt"), "left");
    await one.folders.open("ada");
    await one.folders.remove("ada");
    await two.folders.open("ada");
    expect(await readdir(workspaceDir)).toEqual([]);
    await writeFile(path.join(workspaceDir, "new.txt"), "new");
    await two.folders.open("ada");
    await two.folders.removeDeleted();
    expect(await readdir(workspaceDir)).toEqual(["new.txt"]);
    expect(isTicket(await (await meterOf(two)).admit())).toBe(true);
  });

  it("is not opened anew before all are told and all is removed", async () => {
    const removing = Promise.withResolvers<boolean>();
    let begun = false;
    const one = machine("a", HOUR, () => {
      begun = true;
      return removing.promise;
    });
    const two = machine("b");
    await Promise.all([one.folders.open("ada"), two.folders.open("ada")]);
    const removed = one.folders.remove("ada");
    await vi.waitFor(() => expect(begun).toBe(true), 30_000);
    await expect(two.folders.open("ada")).rejects.toMatchObject({
      code: "OWNER_GONE",
      message: expect.stringContaining("Try again in 2 s"),
    });
    await two.store.write(customerKey("ada", "late"), Buffer.from("late"));
    removing.resolve(true);
    await removed;
    await two.folders.open("ada");
    expect(await one.store.list(["customers"])).toEqual([]);
    expect(await one.store.list(["deleting"])).toEqual([]);
  });

  it.each([
    ["who opens the customer", ({ folders }: Machine) => folders.open("ada")],
    ["who looks now and then", ({ folders }: Machine) => folders.removeDeleted()],
    ["who deletes the customer again", ({ folders }: Machine) => folders.remove("ada")],
  ])("whose deletion was broken off is removed by %s, and never comes back", async (_, goOn) => {
    let isBroken = true;
    const removeMore = vi.fn<(id: string) => Promise<boolean>>(async () => {
      if (isBroken) throw new Error("no storage");
      return true;
    });
    const [one, two] = [machine("a", HOUR, removeMore), machine("b", HOUR, removeMore)];
    await Promise.all([one.folders.open("ada"), two.folders.open("ada")]);
    await one.store.write(customerKey("ada", "vaults", "x"), Buffer.from("secret"));
    await expect(one.folders.remove("ada")).rejects.toThrow("no storage");
    const { value, version } = (await one.store.read(["deleting", digestOf("ada")])) ?? {};
    expect([String(value && Buffer.from(value)), version]).toEqual(["ada", expect.any(String)]);
    // However long ago it was: nothing of this expires.
    await expect(two.folders.open("ada")).rejects.toThrow("no storage");
    isBroken = false;
    await goOn(two);
    expect(await one.store.list(["customers"])).toEqual([]);
    expect(await one.store.list(["deleting"])).toEqual([]);
    expect(removeMore).toHaveBeenLastCalledWith("ada");
    const calls = removeMore.mock.calls.length;
    await two.folders.open("ada");
    await two.folders.removeDeleted();
    expect(removeMore).toHaveBeenCalledTimes(calls);
  });

  it.each([
    ["a process that says so, or was killed a moment ago", "ada", ["ada"]],
    ["an earlier version", "1", []],
  ])("is not removed by two at once: while it is by %s", async (_, mark, removed) => {
    const one = machine("a");
    const { workspaceDir } = await one.folders.open("ada");
    const deleting = ["deleting", digestOf("ada")];
    await one.store.write(deleting, Buffer.from(mark));
    await one.store.write([...deleting, "held"], Buffer.of(1));
    await expect(one.folders.open("ada")).rejects.toMatchObject({ code: "OWNER_GONE" });
    expect(await one.folders.removeDeleted()).toEqual([]);
    expect(existsSync(workspaceDir)).toBe(true);
    await one.store.remove([...deleting, "held"]);
    // The marks of earlier versions have no holder, and expire.
    expect(await one.folders.removeDeleted()).toEqual(removed);
  });

  it("can be deleted where there is nothing of them but in the store", async () => {
    const [one, two] = [machine("a"), machine("b")];
    await (await meterOf(two)).admit();
    expect(await one.folders.list()).toEqual(["ada"]);
    expect((await one.folders.usage("ada")).quotas).toMatchObject([{ runs: 1 }]);
    await one.folders.remove("ada");
    expect(await one.folders.list()).toEqual([]);
  });

  it("is listed, and can be deleted again, where a machine that was killed has left files of them", async () => {
    const left = (one: Machine) => ["files", ...customerKey("ada", "pieces", one.root)];
    const one = machine("a", HOUR, async () => (await one.store.removeAll(["files"]), true));
    await one.folders.open("ada");
    await one.folders.remove("ada");
    await one.store.write(left(one), Buffer.from("late"));
    expect(await one.folders.list()).toEqual(["ada"]);
    expect(await one.folders.usage("ada")).toMatchObject({ bytes: 0 });
    await one.folders.remove("ada");
    expect(await one.store.list(["files"])).toEqual([]);
    await expect(one.folders.usage("ada")).rejects.toMatchObject({ code: "CUSTOMER_NOT_FOUND" });
  });
});

describe("a store that was set back to an earlier state", () => {
  it.each([
    ["with an earlier deletion", (mark: string) => mark],
    ["of a version whose deletions have no time", () => randomUUID()],
  ])("has no folder of somebody who came back since removed: one %s", async (_, markOf) => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    onTestFinished(() => warned.mockRestore());
    const one = machine("a");
    const deleted = ["deleted", digestOf("ada")];
    await one.folders.open("ada");
    await one.folders.remove("ada");
    const earlier = Buffer.from((await one.store.read(deleted))?.value ?? []).toString();
    await one.folders.open("ada");
    await one.folders.remove("ada");
    const { workspaceDir } = await one.folders.open("ada");
    await writeFile(path.join(workspaceDir, "kept.txt"), "kept");
    await one.store.write(deleted, Buffer.from(markOf(earlier)));
    await one.folders.open("ada");
    await one.folders.removeDeleted();
    expect(await readdir(workspaceDir)).toEqual(["kept.txt"]);
    expect(isTicket(await (await meterOf(one)).admit())).toBe(true);
    // Whoever is deleted from then on goes, on every machine.
    await machine("b").folders.remove("ada");
    expect(await one.folders.removeDeleted()).toEqual(["ada"]);
    expect(existsSync(workspaceDir)).toBe(false);
  });
});

describe("a store that has lost what it knew", () => {
  it("has no folder removed", async () => {
    const one = machine("a");
    await one.folders.open("ada");
    await one.folders.remove("ada");
    const { workspaceDir } = await one.folders.open("ada");
    await writeFile(path.join(workspaceDir, "kept.txt"), "kept");
    for (const prefix of ["customers", "deleted"]) await one.store.removeAll([prefix]);
    await one.folders.open("ada");
    await one.folders.removeDeleted();
    expect(await readdir(workspaceDir)).toEqual(["kept.txt"]);
    expect(isTicket(await (await meterOf(one)).admit())).toBe(true);
  });
});

it("lists a customer as idle on machines that have no folder of theirs", async () => {
  await (await meterOf(machine("a"))).admit();
  const { store, folders } = machine("b");
  expect(await folders.inactive(5)).toEqual([]);
  const now = (await store.now()) + 10 * 86_400_000;
  const later = createCustomerFolders(place, { store: { ...store, now: async () => now } });
  expect(await later.inactive(5)).toEqual(["ada"]);
});

it("lists no customer as idle who is at work on another machine", async () => {
  const [one, two] = [machine("a"), machine("b")];
  await one.folders.open("ada");
  await (await meterOf(two)).admit();
  const now = await one.store.now();
  const store = { ...one.store, now: async () => now };
  vi.useFakeTimers({ toFake: ["Date"], now: now + 10 * 86_400_000 });
  onTestFinished(() => void vi.useRealTimers());
  const later = createCustomerFolders(one.root);
  expect(await later.inactive(5)).toEqual(["ada"]);
  const shared = createCustomerFolders(one.root, { store });
  expect(await shared.inactive(5)).toEqual([]);
});
