import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../fixtures/temporary-folder.ts";
import { storeKey } from "./sign-in-file.ts";
import { createFileTokenStore, createMemoryTokenStore } from "./token-store.ts";

const SERVER_URL = "https://x.example/mcp";
const record = (scope: string) => ({ version: 1 as const, url: SERVER_URL, requiredScope: scope });

describe("createFileTokenStore", () => {
  it("replaces a file as a whole, which only its owner may read", async () => {
    const folder = join(await temporaryFolder(), "tokens");
    const store = createFileTokenStore(folder);
    await store.write(record("a"));
    const [file = ""] = await readdir(folder);
    await chmod(join(folder, file), 0o644);
    await Promise.all(["b", "c", "d"].map((scope) => store.write(record(scope))));
    expect(await readdir(folder)).toEqual([file]);
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(JSON.parse(await readFile(join(folder, file), "utf8"))).toEqual(record("d"));
    expect(await store.read(SERVER_URL)).toEqual(record("d"));
  });

  it("writes nothing for a customer who is gone, whose folder may be another's by now", async () => {
    const folder = join(await temporaryFolder(), "ada", "auth");
    let isThere = true;
    const store = createFileTokenStore(folder, async () => isThere);
    await store.write(record("a"));
    const renewing = store.exclusively(
      SERVER_URL,
      async () => {
        await rm(join(folder, ".."), { recursive: true });
        isThere = false;
        await store.write(record("b"));
      },
      { waitMs: 1, busy: () => new Error("busy") },
    );
    await expect(renewing).rejects.toMatchObject({ code: "OWNER_GONE" });
    const later = store.exclusively(SERVER_URL, async () => {}, { waitMs: 1, busy: () => new Error("busy") });
    await expect(later).rejects.toMatchObject({ code: "OWNER_GONE" });
    await expect(stat(join(folder, ".."))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("takes a broken file, and one for another server, for none", async () => {
    const folder = await temporaryFolder();
    const store = createFileTokenStore(folder);
    expect(await store.read(SERVER_URL)).toBeUndefined();
    await store.write(record("a"));
    const [file = ""] = await readdir(folder);
    for (const text of ["{", "{}", JSON.stringify({ ...record("a"), url: "https://other.example/" })]) {
      await writeFile(join(folder, file), text);
      expect(await store.read(SERVER_URL)).toBeUndefined();
    }
  });

  it("leaves nothing behind when it can't write", async () => {
    const folder = await temporaryFolder();
    const store = createFileTokenStore(folder);
    await store.write(record("a"));
    const [file = ""] = await readdir(folder);
    await rm(join(folder, file));
    await mkdir(join(folder, file));
    await expect(store.write(record("b"))).rejects.toMatchObject({ code: "EISDIR" });
    expect(await readdir(folder)).toEqual([file]);
  });
});

describe("createMemoryTokenStore", () => {
  it("keeps what it was given", async () => {
    const store = createMemoryTokenStore();
    await store.write(record("a"));
    expect(await store.read(SERVER_URL)).toEqual(record("a"));
    expect(await store.read("https://other.example/")).toBeUndefined();
  });
});

describe("storeKey", () => {
  it("holds neither credentials nor query nor fragment", () => {
    expect(storeKey("https://ada:secret@x.example/mcp#secret")).toBe(SERVER_URL);
    expect(storeKey("https://ada:secret@x.example/mcp?key=secret#secret", "secret")).not.toContain("secret");
  });

  it("tells servers apart by their queries and clients", () => {
    const [plain, query] = [SERVER_URL, `${SERVER_URL}?tenant=a`];
    const keys = [
      storeKey(plain),
      storeKey(query),
      storeKey(`${SERVER_URL}?tenant=b`),
      storeKey(plain, "app"),
      storeKey(query, "app"),
      storeKey(query, "other"),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});
