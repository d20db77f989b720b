import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mergeSkills } from "./merge-skills.ts";
import type { MergedSkills } from "./merge-skills.ts";

let folder: string;
let folders: MergedSkills;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-merge-"));
  folders = {
    shared: path.join(folder, "shared"),
    own: path.join(folder, "own"),
    into: path.join(folder, "merged"),
  };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(dir: string, name: string, text: string): Promise<void> {
  await mkdir(path.join(dir, name), { recursive: true });
  await writeFile(path.join(dir, name, "index.ts"), text);
}
const read = (name: string): Promise<string> => readFile(path.join(folders.into, name, "index.ts"), "utf8");

describe("mergeSkills", () => {
  it("puts shared and own skills together, own ones first, without copies", async () => {
    await write(folders.shared, "a", "shared a");
    await write(folders.shared, "b", "shared b");
    await write(folders.own, "b", "own b");
    await write(folders.own, ".proposals/c", "proposed");
    await mergeSkills(folders);
    expect(await readdir(folders.into)).toEqual(["a", "b"]);
    expect([await read("a"), await read("b")]).toEqual(["shared a", "own b"]);
    const files = [folders.shared, folders.into].map((dir) => stat(path.join(dir, "a/index.ts")));
    const [one, other] = await Promise.all(files);
    expect(other?.ino).toBe(one?.ino);
  });

  it("follows what changes, comes and goes", async () => {
    await write(folders.shared, "a", "one");
    await write(folders.shared, "gone", "x");
    await mergeSkills(folders);
    await rm(path.join(folders.shared, "gone"), { recursive: true });
    await rm(path.join(folders.shared, "a"), { recursive: true });
    await write(folders.shared, "a", "another");
    await write(folders.own, "new", "new");
    await mergeSkills(folders);
    expect(await readdir(folders.into)).toEqual(["a", "new"]);
    expect(await read("a")).toBe("another");
    await rm(path.join(folders.own, "new"), { recursive: true });
    await mergeSkills(folders);
    expect(await readdir(folders.into)).toEqual(["a"]);
  });

  it("makes an empty folder where there are no skills", async () => {
    await mergeSkills(folders);
    expect(await readdir(folders.into)).toEqual([]);
  });
});
