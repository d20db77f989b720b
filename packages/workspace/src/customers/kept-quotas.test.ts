import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createFolderStore } from "@cem/store";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createCustomerFolders } from "./customer-folders.ts";
import type { CustomerQuota } from "./quotas.ts";
import { createRunMeter } from "./run-meter.ts";

const QUOTAS: CustomerQuota[] = [{ per: "hour", runs: 2, seconds: 10 }];
const HOUR_MS = 3_600_000;
let root: string;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_700_000_000_000 });
  root = await mkdtemp(path.join(os.tmpdir(), "cem-kept-"));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(root, { recursive: true, force: true });
});

describe.each(["files", "a store"])("a customer who is deleted, with %s", (kind) => {
  const parts = () => {
    const store = kind === "files" ? undefined : createFolderStore({ folder: path.join(root, "store") });
    const folders = createCustomerFolders(path.join(root, "customers"), {
      quotas: QUOTAS,
      store,
      noticeMs: 0,
    });
    const run = async (ms: number) => {
      const { home } = await folders.open("ada");
      const admitted = await createRunMeter({ home, quotas: QUOTAS, store }).admit();
      if (!("settle" in admitted)) return admitted.code;
      admitted.watch({ spentMs: () => ms, stop: () => {} });
      await admitted.settle();
      return "ran";
    };
    return { folders, run };
  };

  it("has used its quota when it comes back, however often", async () => {
    const { folders, run } = parts();
    expect(await run(1_000)).toBe("ran");
    await folders.remove("ada");
    expect(await run(2_000)).toBe("ran");
    await folders.remove("ada");
    expect(await run(0)).toBe("QUOTA_EXCEEDED");
    expect((await folders.usage("ada")).quotas).toMatchObject([{ runs: 2, seconds: 3 }]);
    await folders.remove("ada");
    await folders.open("ada");
    await folders.remove("ada");
    expect(await run(0)).toBe("QUOTA_EXCEEDED");
  });
});

it("keeps what a deleted customer has used until its periods end", async () => {
  const folders = createCustomerFolders(root, { quotas: QUOTAS });
  const run = async (id: string) => {
    const { home } = await folders.open(id);
    return "settle" in (await createRunMeter({ home, quotas: QUOTAS }).admit());
  };
  for (const id of ["ada", "bob"]) {
    expect([await run(id), await run(id), await run(id)]).toEqual([true, true, false]);
    await folders.remove(id);
  }
  vi.setSystemTime(Date.now() + HOUR_MS / 2);
  expect(await run("bob")).toBe(false);
  vi.setSystemTime(Date.now() + HOUR_MS / 2 + 1);
  expect(await run("bob")).toBe(true);
  await folders.remove("bob");
  // Ada's has ended: nothing of her is left.
  expect(await readdir(path.join(root, ".quotas"))).toHaveLength(1);
});

it("keeps nothing that names a deleted customer", async () => {
  const store = createFolderStore({ folder: path.join(root, "store") });
  for (const shared of [undefined, store]) {
    const folders = createCustomerFolders(path.join(root, "customers"), {
      quotas: QUOTAS,
      store: shared,
      noticeMs: 0,
    });
    const { home } = await folders.open("ada");
    await createRunMeter({ home, quotas: QUOTAS, store: shared }).admit();
    await folders.remove("ada");
    expect(await folders.list()).toEqual([]);
  }
  const files = await readdir(path.join(root, "customers"), { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile())
    .map(async (file) => `${file.name} ${await readFile(path.join(file.parentPath, file.name), "utf8")}`);
  const keys = ["customers", "deleted", "quotas"].map((part) => store.list([part]));
  const left = JSON.stringify([await Promise.all(texts), await Promise.all(keys)]);
  expect(left).toContain("quotas");
  expect(left).not.toMatch(/\bada\b/);
  await store.close();
});
