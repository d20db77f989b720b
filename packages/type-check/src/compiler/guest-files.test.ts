import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGuestFiles, PROGRAM_FILE, type GuestFiles } from "./guest-files.ts";

const TOOL = "/workspace/servers/shop/index.ts";
const NOTHING = { changed: [], created: [], deleted: [] };

let folder: string;
let files: GuestFiles;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "cem-type-check-"));
  mkdirSync(path.join(folder, "shop"));
  writeFileSync(path.join(folder, "shop/index.ts"), "tool");
  files = createGuestFiles({ serversDir: folder });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("createGuestFiles", () => {
  it("gives the program, the tools and nothing else", () => {
    files.write(PROGRAM_FILE, "program");
    expect(files.read(PROGRAM_FILE)).toBe("program");
    expect(files.read(TOOL)).toBe("tool");
    expect(files.read("/files/servers/shop/index.ts")).toBe("tool");
    for (const other of [
      "/etc/passwd",
      "/workspace/servers/shop/data.json",
      "/workspace/servers/none/index.ts",
    ]) {
      expect([files.exists(other), files.read(other)]).toEqual([false, undefined]);
    }
    expect(
      ["/", "/workspace", "/workspace/servers/x", "/etc", "/workspace/node_modules"].map((one) =>
        files.isFolder(one),
      ),
    ).toEqual([true, true, true, false, false]);
  });

  it("hides a file of the host below an overlay, until that is removed", () => {
    files.write(TOOL, "overlay");
    expect([files.read(TOOL), files.isOnHost(TOOL)]).toEqual(["overlay", true]);
    files.remove(TOOL);
    expect(files.read(TOOL)).toBe("tool");
  });

  describe("takeChanges", () => {
    it("tells only of files that were asked for, and each change once", () => {
      files.write(PROGRAM_FILE, "1");
      expect(files.takeChanges()).toEqual(NOTHING);
      files.read(PROGRAM_FILE);
      files.exists(TOOL);
      files.exists("/workspace/servers/new/index.ts");
      expect(files.takeChanges()).toEqual(NOTHING);
      files.write(PROGRAM_FILE, "1");
      expect(files.takeChanges()).toEqual(NOTHING);
      files.write(PROGRAM_FILE, "2");
      mkdirSync(path.join(folder, "new"));
      writeFileSync(path.join(folder, "new/index.ts"), "");
      rmSync(path.join(folder, "shop/index.ts"));
      expect(files.takeChanges()).toEqual({
        changed: [PROGRAM_FILE],
        created: ["/workspace/servers/new/index.ts"],
        deleted: [TOOL],
      });
      expect(files.takeChanges()).toEqual(NOTHING);
    });

    it("tells of a file with another time or size, and of an overlay that comes and goes", () => {
      const file = path.join(folder, "shop/index.ts");
      utimesSync(file, 1, 1);
      files.read(TOOL);
      utimesSync(file, 2, 2);
      expect(files.takeChanges()).toEqual({ ...NOTHING, changed: [TOOL] });
      writeFileSync(file, "a longer tool");
      utimesSync(file, 2, 2);
      expect(files.takeChanges()).toEqual({ ...NOTHING, changed: [TOOL] });
      files.write(TOOL, "overlay");
      expect(files.takeChanges()).toEqual({ ...NOTHING, changed: [TOOL] });
      files.remove(TOOL);
      expect(files.takeChanges()).toEqual({ ...NOTHING, changed: [TOOL] });
      expect(files.read(TOOL)).toBe("a longer tool");
    });
  });
});
