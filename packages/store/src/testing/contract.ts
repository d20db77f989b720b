import type { Store, StoreKey } from "@cem/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const shown = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : new TextDecoder().decode(value);

/** Set-up of {@link describeStoreContract} for one store. */
export interface StoreContractSetup {
  /** Opens a store that contains what earlier ones of the same test wrote, as on another host. */
  open(): Store;
  /** Makes the next {@link StoreContractSetup.open} find an empty store. */
  reset(): Promise<void>;
}

/** The tests that every store must pass. Needs vitest. */
export function describeStoreContract(name: string, setUp: () => Promise<StoreContractSetup>): void {
  describe(`store contract: ${name}`, () => {
    let setup: StoreContractSetup;
    let stores: Store[] = [];
    const open = (): Store => {
      const store = setup.open();
      stores.push(store);
      return store;
    };

    beforeEach(async () => {
      setup ??= await setUp();
      await setup.reset();
    });
    afterEach(async () => {
      await Promise.all(stores.map((store) => store.close()));
      stores = [];
    });

    it("has one clock for all hosts", async () => {
      const [ada, bob] = [open(), open()];
      const [before, after] = [await ada.now(), await bob.now()];
      expect(Number.isInteger(before) && after >= before).toBe(true);
      expect(Math.abs(before - Date.now())).toBeLessThan(86_400_000);
    });

    describe("values", () => {
      it("are read as another host wrote them, byte by byte", async () => {
        const bytes = Uint8Array.from({ length: 512 }, (_, at) => at % 256);
        const version = await open().write(["a", "b"], bytes);
        const found = await open().read(["a", "b"]);
        expect(Buffer.from(found?.value ?? [])).toEqual(Buffer.from(bytes));
        expect(found?.version).toBe(version);
        expect(await open().read(["a"])).toBeUndefined();
        expect(await open().read(["a", "b", "c"])).toBeUndefined();
      });

      it("may be empty, and large", async () => {
        const store = open();
        await store.write(["empty"], new Uint8Array());
        expect((await store.read(["empty"]))?.value).toHaveLength(0);
        await store.write(["large"], new Uint8Array(8_000_000).fill(7));
        expect((await store.read(["large"]))?.value).toHaveLength(8_000_000);
        await expect(store.write(["larger"], new Uint8Array(64 * 1024 * 1024 + 1))).rejects.toMatchObject({
          code: "STORE_VALUE_TOO_LARGE",
        });
        await expect(store.write(["text"], "text" as unknown as Uint8Array)).rejects.toMatchObject({
          code: "OPTION_INVALID",
          message: expect.stringMatching(/text has to be a Uint8Array\.$/u),
        });
      });

      it("are replaced and removed only in the version that was read", async () => {
        const [ada, bob] = [open(), open()];
        const first = await ada.write(["a"], text("1"), { version: "" });
        await expect(bob.write(["a"], text("x"), { version: "" })).rejects.toMatchObject({
          code: "STORE_CONFLICT",
        });
        const second = await bob.write(["a"], text("2"), { version: first });
        await expect(ada.write(["a"], text("x"), { version: first })).rejects.toMatchObject({
          code: "STORE_CONFLICT",
        });
        await expect(ada.remove(["a"], first)).rejects.toMatchObject({ code: "STORE_CONFLICT" });
        expect(shown((await ada.read(["a"]))?.value)).toBe("2");
        expect(await ada.remove(["a"], second)).toBe(true);
        expect(await ada.remove(["a"])).toBe(false);
        await expect(ada.write(["a"], text("x"), { version: second })).rejects.toMatchObject({
          code: "STORE_CONFLICT",
        });
      });

      it("get one winner of many that write at once", async () => {
        const hosts = [open(), open(), open(), open()];
        const first = await open().write(["a"], text("0"));
        const outcomes = await Promise.allSettled(
          Array.from({ length: 20 }, (_, at) =>
            (hosts[at % 4] as Store).write(["a"], text(String(at)), { version: first }),
          ),
        );
        expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      });

      it("are gone when they expire, and stay when they are written anew", async () => {
        const store = open();
        await store.write(["short"], text("1"), { expiresInMs: 30 });
        await store.write(["kept"], text("1"), { expiresInMs: 30 });
        await store.write(["kept"], text("2"));
        await expect.poll(() => store.read(["short"]), { timeout: 20_000 }).toBeUndefined();
        expect(await store.list([])).toEqual([["kept"]]);
        for (const expiresInMs of [0, -5]) {
          await store.write(["kept"], text("2"), { expiresInMs });
          await expect.poll(() => store.read(["kept"]), { timeout: 20_000 }).toBeUndefined();
        }
        await store.write(["kept"], text("2"), { expiresInMs: Infinity });
        expect(await store.list([])).toEqual([["kept"]]);
        await store.write(["short"], text("3"), { version: "" });
        expect(shown((await store.read(["short"]))?.value)).toBe("3");
      });
    });

    describe("keys", () => {
      const odd = ["", " ", "/", "\\", "..", "%2F", "a*b?[c]", "\0", "\u0001", "\n", "é", "\u{1F600}", "{x}"];

      it("are apart whatever is in them", async () => {
        const store = open();
        const keys = odd.flatMap((part) => [
          [`a${part}`, "b"],
          ["a", `${part}b`],
        ]);
        const unique = new Map(keys.map((key) => [JSON.stringify(key), key]));
        for (const [json, key] of unique) await store.write(key, text(json));
        for (const [json, key] of unique) expect(shown((await store.read(key))?.value)).toBe(json);
        expect(await store.list([])).toHaveLength(unique.size);
      });

      it("are listed in order, by their beginning and page by page", async () => {
        const store = open();
        const keys = [
          ["a"],
          ["a", "1"],
          ["a", "1", "x"],
          ["a", "2"],
          ["a\u0001"],
          ["a!"],
          ["ab", "1"],
          ["b"],
        ];
        for (const key of keys.toReversed()) await store.write(key, text("x"));
        expect(await store.list([])).toEqual(keys);
        expect(await store.list(["a"])).toEqual(keys.slice(0, 4));
        expect(await store.list(["a", "1"])).toEqual(keys.slice(1, 3));
        expect(await store.list(["a"], { after: ["a", "1"], limit: 1 })).toEqual([["a", "1", "x"]]);
        expect(await store.list(["a"], { after: ["a", "2"] })).toEqual([]);
        expect(await store.list(["a"], { after: ["A"], limit: 2 })).toEqual(keys.slice(0, 2));
      });

      it.each<[string, unknown]>([
        ["a number for a text", [5]],
        ["no list", "text"],
        ["nothing", null],
        ["no part", []],
        ["an empty part", ["a", ""]],
        ["nine parts", Array.from({ length: 9 }, () => "a")],
        ["a part of 256 characters", ["x".repeat(256)]],
        ["half a character", ["\uD800"]],
        ["1,200 bytes", Array.from({ length: 3 }, () => "é".repeat(200))],
      ])("are refused with %s", async (_, given) => {
        const key = given as StoreKey;
        const store = open();
        await expect(store.read(key)).rejects.toMatchObject({ code: "STORE_KEY_INVALID" });
        await expect(store.write(key, text("x"))).rejects.toMatchObject({ code: "STORE_KEY_INVALID" });
        await expect(store.removeAll(key)).rejects.toMatchObject({ code: "STORE_KEY_INVALID" });
      });
    });

    it("removes all that begins with parts, and nothing else", async () => {
      const store = open();
      for (const key of [["a"], ["a", "b"], ["a", "b", "c"], ["ab"], ["a\u0001"]])
        await store.write(key, text("x"));
      await store.removeAll(["a"]);
      expect(await store.list([])).toEqual([["a\u0001"], ["ab"]]);
    });
  });
}
