import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashOf, MISSING_FILE, VerdictFile } from "./verdict-file.ts";

const TOOL = "/workspace/servers/shop/index.ts";
const TEXT = "export const buy = 1;";

let folder: string;
let serversDir: string;
let verdicts: VerdictFile;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "verdicts-"));
  serversDir = path.join(folder, "servers");
  verdicts = new VerdictFile(path.join(folder, "cache"), { serversDir });
  await mkdir(path.join(serversDir, "shop"), { recursive: true });
  await writeFile(path.join(serversDir, "shop/index.ts"), TEXT);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe("VerdictFile", () => {
  it("has what was added, for as long as the files are the same", async () => {
    expect(await verdicts.has("code")).toBe(false);
    await verdicts.add("code", { [TOOL]: hashOf(TEXT) });
    await verdicts.add("other", {});
    expect(await verdicts.has("code")).toBe(true);
    await writeFile(path.join(serversDir, "shop/index.ts"), `${TEXT}\n`);
    expect(await verdicts.has("code")).toBe(false);
    await rm(path.join(serversDir, "shop/index.ts"));
    expect(await verdicts.has("code")).toBe(false);
    expect(await verdicts.has("other")).toBe(true);
  });

  it("knows which file was not there", async () => {
    const added = "/workspace/servers/added/index.ts";
    await verdicts.add("code", { [added]: MISSING_FILE });
    expect(await verdicts.has("code")).toBe(true);
    await mkdir(path.join(serversDir, "added"));
    await writeFile(path.join(serversDir, "added/index.ts"), "");
    expect(await verdicts.has("code")).toBe(false);
  });

  it("takes a broken file for none, and writes another", async () => {
    await verdicts.add("code", {});
    const file = path.join(folder, "cache/type-checks.json");
    const written = await readFile(file, "utf8");
    for (const broken of [
      written.slice(0, -9),
      "null",
      written.replace('["code",{}]', '7,["code",null],["code",7]'),
    ]) {
      await writeFile(file, broken);
      expect(await verdicts.has("code")).toBe(false);
    }
    await verdicts.add("code", {});
    expect(await readFile(file, "utf8")).toBe(written);
  });

  it("keeps the newest 500", async () => {
    const file = path.join(folder, "cache/type-checks.json");
    await verdicts.add("first", {});
    const clean = Array.from({ length: 500 }, (_, at) => [`code ${at}`, {}]);
    await writeFile(file, JSON.stringify({ format: "cem-types-1", clean }));
    await verdicts.add("newest", {});
    expect(await Promise.all(["code 0", "code 1", "newest"].map((key) => verdicts.has(key)))).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("does without a folder that can't be written", async () => {
    const nowhere = new VerdictFile(path.join(serversDir, "shop/index.ts/below"), { serversDir });
    await nowhere.add("code", {});
    expect(await nowhere.has("code")).toBe(false);
  });
});
