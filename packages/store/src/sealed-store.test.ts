import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Store } from "@cem/core";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { countOlderKeys, createFolderStore, parseSealingKeys, requireSameKeys, sealStore } from "./index.ts";

const [OLD, NEW] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64"));
const old = parseSealingKeys(`old:${OLD}`);
const both = parseSealingKeys(`new:${NEW},old:${OLD}`);
const fresh = parseSealingKeys(`new:${NEW}`);
const secret = Buffer.from("a secret value");

function open(): { store: Store; folder: string } {
  const folder = mkdtempSync(path.join(os.tmpdir(), "sealed-"));
  const store = createFolderStore({ folder });
  onTestFinished(() => store.close());
  return { store, folder };
}

it("writes nothing in clear", async () => {
  const { store, folder } = open();
  await sealStore(store, old).write(["a"], secret);
  for (const name of readdirSync(folder))
    expect(readFileSync(path.join(folder, name)).includes(secret)).toBe(false);
});

it("opens nothing under another key, changed, cut or unsealed", async () => {
  const { store } = open();
  const sealed = sealStore(store, old);
  await sealed.write(["a"], secret);
  const { value } = (await store.read(["a"])) ?? { value: new Uint8Array() };
  await store.write(["b"], value);
  await store.write(["cut"], value.subarray(0, 20));
  await store.write(["clear"], secret);
  for (const at of [20, value.length - 1]) {
    const changed = Uint8Array.from(value);
    changed[at] = (changed[at] ?? 0) ^ 1;
    await store.write([`changed ${at}`], changed);
  }
  for (const key of ["b", "cut", "clear", "changed 20", `changed ${value.length - 1}`])
    await expect(sealed.read([key])).rejects.toMatchObject({ code: "STORE_SEALED" });
  await expect(sealStore(store, fresh).read(["a"])).rejects.toThrow(/its key is old/);
  const other = parseSealingKeys(`old:${NEW}`);
  await expect(sealStore(store, other).read(["a"])).rejects.toThrow(/another one of that name/);
});

it("opens with a newer key first what an older one sealed, and seals with the newer", async () => {
  const { store } = open();
  await sealStore(store, old).write(["v"], secret);
  const changing = sealStore(store, both);
  expect(Buffer.from((await changing.read(["v"]))?.value ?? [])).toEqual(secret);
  await changing.write(["w"], secret);
  expect([...(await countOlderKeys(store, both))]).toEqual([["old", 1]]);
  await changing.write(["v"], secret);
  expect([...(await countOlderKeys(store, both))]).toEqual([]);
  expect(Buffer.from((await sealStore(store, fresh).read(["v"]))?.value ?? [])).toEqual(secret);
});

it.each([
  ["another key", fresh, /its key is old/u],
  ["another key of that name", parseSealingKeys(`old:${NEW}`), /another one of that name/u],
  ["no key", [], /its key is old/u],
])("tells that %s does not open what is there", async (_, keys, why) => {
  const { store } = open();
  await store.write(["probe"], Buffer.of(1));
  expect(await countOlderKeys(store, keys, ["probe"])).toEqual(new Map());
  await sealStore(store, old).write(["v"], secret);
  await expect(countOlderKeys(store, keys, ["probe"])).rejects.toThrow(why);
});

it("tells that there are values that are not sealed, where there are keys", async () => {
  const { store } = open();
  await store.write(["clear"], secret);
  await expect(countOlderKeys(store, old)).rejects.toThrow(/clear can't be opened: it is not sealed/u);
  expect(await countOlderKeys(store, [])).toEqual(new Map());
});

it.each([
  ["", "Key 1"],
  [`a:${OLD},b:short`, "Key 2"],
  [`a b:${OLD}`, "Key 1"],
  [`a:${OLD},a:${NEW}`, "one name"],
])("refuses keys that are none: %s", (text, message) => {
  expect(() => parseSealingKeys(text)).toThrow(message);
});

describe("a store of processes with keys", () => {
  const SEALED = { code: "STORE_SEALED", message: expect.stringMatching(/^store can't be opened/u) };
  const uses: ((store: Store) => Promise<unknown>)[] = [
    (store) => store.read(["v"]),
    (store) => store.write(["v"], secret),
    (store) => store.remove(["v"]),
    (store) => store.removeAll(["v"]),
    (store) => store.list([]),
  ];

  it.each([
    ["no keys", undefined],
    ["others", fresh],
  ])("is refused to a process with %s, before it changes anything", async (_, keys) => {
    const { store } = open();
    await requireSameKeys(store, old).write(["v"], secret);
    const before = await store.read(["v"]);
    for (const use of uses) await expect(use(requireSameKeys(store, keys))).rejects.toMatchObject(SEALED);
    expect(await store.read(["v"])).toEqual(before);
  });

  it("is refused to a process without keys that was there before it had values", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { store } = open();
    const without = requireSameKeys(store, [], ["probe"]);
    await without.write(["probe"], secret);
    await requireSameKeys(store, old, ["probe"]).write(["v"], secret);
    vi.advanceTimersByTime(1_001);
    await expect(without.write(["v"], secret)).rejects.toMatchObject(SEALED);
  });

  it("takes a newer key in turn, and the older one no more", async () => {
    const { store } = open();
    for (const keys of [old, both, fresh]) await requireSameKeys(store, keys).write(["v"], secret);
    await expect(requireSameKeys(store, old).write(["v"], secret)).rejects.toMatchObject(SEALED);
  });

  it("is known from its first use with keys on, also by values from before", async () => {
    const { store } = open();
    await sealStore(store, old).write(["v"], secret);
    await store.write(["clear"], secret);
    const refused = requireSameKeys(store, fresh).read(["v"]);
    await expect(refused).rejects.toMatchObject({ code: "STORE_SEALED" });
    await requireSameKeys(store, old).read(["v"]);
    await expect(requireSameKeys(store).read(["v"])).rejects.toMatchObject(SEALED);
  });

  it("is not used at once by first processes with keys and without", async () => {
    for (let round = 0; round < 20; round += 1) {
      const { store } = open();
      const first = [requireSameKeys(store), requireSameKeys(store, old)];
      const written = await Promise.allSettled(first.map((one, at) => one.write([`v${at}`], secret)));
      expect(written.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(written.find(({ status }) => status === "rejected")).toMatchObject({ reason: SEALED });
    }
  });

  it("is not made of one whose processes have none", async () => {
    const { store } = open();
    const without = requireSameKeys(store);
    await without.write(["v"], secret);
    await requireSameKeys(store).write(["v"], secret);
    await expect(requireSameKeys(store, old).write(["v"], secret)).rejects.toMatchObject(SEALED);
    await store.remove(["store"]);
    await expect(requireSameKeys(store, old).write(["v"], secret)).rejects.toThrow(/v can't be opened/u);
    expect(Buffer.from((await without.read(["v"]))?.value ?? [])).toEqual(secret);
  });
});
