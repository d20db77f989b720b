import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { CemError } from "@cem/core";
import type { AuditEvent, Store } from "@cem/core";
import { createFolderStore } from "@cem/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { allPages, pageKey } from "./shared-audit-log.ts";
import { createSharedAuditLog, verifySharedAuditLog } from "./index.ts";

let folder: string;
const stores: Store[] = [];
const open = (): Store => {
  const store = createFolderStore({ folder });
  stores.push(store);
  return store;
};
const event = (ms: number): AuditEvent => ({
  type: "call",
  run: "r",
  session: "token-of-bob",
  server: "s",
  tool: "t",
  ok: true,
  ms,
});
const messages = async (expect?: string): Promise<string[]> =>
  (await verifySharedAuditLog(open(), { expect })).problems.map(({ message }) => message);

/** Has some machines write at the same time. */
async function write(machines: number, events: number): Promise<void> {
  await Promise.all(
    Array.from({ length: machines }, async (_, at) => {
      const log = createSharedAuditLog(open(), `host${at}`);
      for (let ms = 0; ms < events; ms += 1) {
        log.record(event(ms));
        if (ms % 3 === 0) await log.flush?.();
      }
      await log.close?.();
    }),
  );
}

async function linesOf(store: Store): Promise<string[]> {
  const lines: string[] = [];
  for await (const { page } of allPages(store)) lines.push(...page.lines);
  return lines;
}

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "cem-shared-audit-"));
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  rmSync(folder, { recursive: true, force: true });
});

describe("createSharedAuditLog", () => {
  it("keeps one chain of what several machines write, each event once and in its machine's order", async () => {
    await write(4, 20);
    expect(await verifySharedAuditLog(open())).toMatchObject({ lines: 80, problems: [] });
    const lines = (await linesOf(open())).map((line) => JSON.parse(line) as { host: string; ms: number });
    for (let at = 0; at < 4; at += 1) {
      const own = lines.filter(({ host }) => host === `host${at}`).map(({ ms }) => ms);
      expect(own).toEqual(Array.from({ length: 20 }, (_, ms) => ms));
    }
    expect(JSON.stringify(lines)).not.toContain("bob");
    await write(1, 5);
    expect(await verifySharedAuditLog(open())).toMatchObject({ lines: 85, problems: [] });
  });

  it("writes a page once whose answer was lost", async () => {
    const store = open();
    let lost = 0;
    const flaky: Store = {
      ...scoped(store),
      async write(key, value, options) {
        const version = await store.write(key, value, options);
        if (key.includes("pages") && (lost += 1) % 2 === 1)
          throw new CemError("STORE_CONFLICT", "as if it had been written before");
        return version;
      },
    };
    const log = createSharedAuditLog(flaky, "host");
    for (let at = 0; at < 6; at += 1) {
      log.record(event(at));
      await log.flush?.();
    }
    expect(await verifySharedAuditLog(store)).toMatchObject({ lines: 6, problems: [] });
  });

  it("fails what waits for it while the store is away, and keeps all once it is back", async () => {
    const store = open();
    let isAway = true;
    const away = async (): Promise<never> => {
      throw new CemError("STORE_UNAVAILABLE", "away");
    };
    const reached: Store = {
      ...scoped(store),
      read: (key) => (isAway ? away() : store.read(key)),
      write: (key, value, options) => (isAway ? away() : store.write(key, value, options)),
    };
    const log = createSharedAuditLog(reached);
    log.record(event(1));
    await expect(log.flush?.()).rejects.toMatchObject({ code: "AUDIT_UNWRITABLE" });
    for (let at = 0; at < 9_999; at += 1) log.record(event(at));
    expect(() => log.record(event(1))).toThrow(expect.objectContaining({ code: "AUDIT_UNWRITABLE" }));
    isAway = false;
    await log.close?.();
    expect(await verifySharedAuditLog(store)).toMatchObject({ lines: 10_000, problems: [] });
  });
});

describe("verifySharedAuditLog", () => {
  it("finds a page that was changed, one that is missing, and an end that was cut off", async () => {
    await write(1, 12);
    const store = open();
    const { head } = await verifySharedAuditLog(store);
    const kept = await store.read(pageKey(3));
    const changed = Buffer.from(kept?.value ?? [])
      .toString()
      .replace(/\\"ms\\":\d+/, String.raw`\"ms\":99`);
    await store.write(pageKey(3), Buffer.from(changed));
    expect(await messages()).toContain("This line was changed.");
    await store.remove(pageKey(3));
    expect((await messages())[0]).toMatch(/^\d lines? (?:is|are) missing before this one\.$/);
    await store.write(pageKey(3), kept?.value ?? new Uint8Array());
    expect(await messages(head)).toEqual([]);
    const pages = await store.list(["audit", "pages"]);
    await store.remove(pages.at(-1) ?? []);
    expect((await messages(head))[0]).toMatch(/missing at the end/);
    expect(await messages(head)).toContain("The line with the expected hash is missing.");
    await store.remove(pageKey(1));
    expect((await messages())[0]).toMatch(/earlier .* are missing/);
  });

  it("finds an empty log whole, and what is no page broken", async () => {
    expect(await verifySharedAuditLog(open())).toMatchObject({ lines: 0, problems: [] });
    await write(1, 2);
    await open().write(pageKey(2), Buffer.from("null"));
    expect(await messages()).toContain("This line was changed.");
  });
});

/** The methods of a store, to replace some. */
function scoped(store: Store): Store {
  return {
    specificationVersion: "v1",
    location: store.location,
    read: (key) => store.read(key),
    write: (key, value, options) => store.write(key, value, options),
    remove: (key, version) => store.remove(key, version),
    list: (prefix, options) => store.list(prefix, options),
    append: (key, entries) => store.append(key, entries),
    entries: (key, options) => store.entries(key, options),
    listLogs: (prefix, options) => store.listLogs(prefix, options),
    rewriteEntry: (key, number, entry) => store.rewriteEntry(key, number, entry),
    add: (key, amount, expiresInMs) => store.add(key, amount, expiresInMs),
    now: () => store.now(),
    removeAll: (prefix) => store.removeAll(prefix),
    close: () => store.close(),
  };
}
