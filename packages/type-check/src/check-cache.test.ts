import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashOf, MISSING_FILE, CheckCache } from "./check-cache.ts";

const TOOL = "/workspace/servers/shop/index.ts";
const TEXT = "export const buy = 1;";

let folder: string;
let serversDir: string;
let cache: CheckCache;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-type-check-"));
  serversDir = path.join(folder, "servers");
  cache = new CheckCache(path.join(folder, "cache"), { serversDir });
  await mkdir(path.join(serversDir, "shop"), { recursive: true });
  await writeFile(path.join(serversDir, "shop/index.ts"), TEXT);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe("CheckCache", () => {
  it("has what was added while the files are unchanged", async () => {
    expect(await cache.has("code")).toBe(false);
    cache.add("code", { [TOOL]: hashOf(TEXT) });
    cache.add("other", {});
    expect(await cache.has("code")).toBe(true);
    await writeFile(path.join(serversDir, "shop/index.ts"), `${TEXT}\n`);
    expect(await cache.has("code")).toBe(false);
    await rm(path.join(serversDir, "shop/index.ts"));
    expect(await cache.has("code")).toBe(false);
    expect(await cache.has("other")).toBe(true);
  });

  it("has any check whose key starts alike, however the files are now", async () => {
    cache.add("code with tools", { [TOOL]: "another hash" });
    expect(await cache.has("code with tools")).toBe(false);
    expect(await Promise.all(["code ", "co", "other"].map((start) => cache.hasAny(start)))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("depends on a file that did not exist", async () => {
    const added = "/workspace/servers/added/index.ts";
    cache.add("code", { [added]: MISSING_FILE });
    expect(await cache.has("code")).toBe(true);
    await mkdir(path.join(serversDir, "added"));
    await writeFile(path.join(serversDir, "added/index.ts"), "");
    expect(await cache.has("code")).toBe(false);
  });

  it("writes what was added together, and reads what another process has written", async () => {
    const other = new CheckCache(path.join(folder, "cache"), { serversDir });
    cache.add("one", {});
    cache.add("two", {});
    expect(await other.has("one")).toBe(false);
    await cache.flush();
    expect(await Promise.all(["one", "two"].map((key) => other.has(key)))).toEqual([true, true]);
    other.add("three", {});
    await other.flush();
    expect(await Promise.all(["one", "three"].map((key) => cache.has(key)))).toEqual([true, true]);
  });

  it("writes by itself, some time later", async () => {
    const own = new CheckCache(path.join(folder, "cache"), { serversDir }, 1);
    own.add("code", {});
    await expect.poll(() => cache.has("code")).toBe(true);
  });

  it("treats a broken file as empty and replaces it", async () => {
    cache.add("code", {});
    await cache.flush();
    const file = path.join(folder, "cache/type-checks.json");
    const written = await readFile(file, "utf8");
    for (const broken of [
      written.slice(0, -9),
      "null",
      written.replace('["code",{}]', '7,["code",null],["code",7]'),
    ]) {
      await writeFile(file, broken);
      expect(await cache.has("code")).toBe(false);
    }
    cache.add("code", {});
    await cache.flush();
    expect(await readFile(file, "utf8")).toBe(written);
  });

  it("keeps the newest 500", async () => {
    const file = path.join(folder, "cache/type-checks.json");
    cache.add("first", {});
    await cache.flush();
    const clean = Array.from({ length: 500 }, (_, at) => [`code ${at}`, {}]);
    await writeFile(file, JSON.stringify({ format: "cem-types-1", clean }));
    cache.add("newest", {});
    await cache.flush();
    expect(await Promise.all(["code 0", "code 1", "newest"].map((key) => cache.has(key)))).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("does nothing in a folder that can't be written", async () => {
    const nowhere = new CheckCache(path.join(serversDir, "shop/index.ts/below"), { serversDir });
    nowhere.add("code", {});
    await nowhere.flush();
    expect(await cache.has("code")).toBe(false);
  });
});
