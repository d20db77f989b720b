import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryWorkspace } from "../../test/temporary-workspace.ts";
import { NotAFolder, openContained } from "@cem/core/files";

const BYTES = Buffer.from("text");

describe("openContained", () => {
  it("opens the root itself, through a link too", async () => {
    const { root, workspaceDir } = temporaryWorkspace();
    symlinkSync(workspaceDir, path.join(root, "link"));
    await using folder = await openContained(path.join(root, "link"), [], false);
    await folder?.replace("a.txt", BYTES);
    expect(readdirSync(workspaceDir)).toEqual(["a.txt"]);
  });

  it("creates missing folders only when told to", async () => {
    const { workspaceDir } = temporaryWorkspace();
    expect(await openContained(workspaceDir, ["a", "b"], false)).toBeUndefined();
    expect(readdirSync(workspaceDir)).toEqual([]);
    await using folder = await openContained(workspaceDir, ["a", "b"], true);
    await folder?.replace("c.txt", BYTES);
    expect(readFileSync(path.join(workspaceDir, "a/b/c.txt"), "utf8")).toBe("text");
  });

  it("rejects a root that does not exist", async () => {
    const { root } = temporaryWorkspace();
    await expect(openContained(path.join(root, "none"), [], true)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("refuses a link and a file on the path, with the cause", async () => {
    const { workspaceDir, outside } = temporaryWorkspace();
    symlinkSync(outside, path.join(workspaceDir, "link"));
    writeFileSync(path.join(workspaceDir, "file"), "");
    for (const [name, code] of [
      ["link", "ENOTDIR"],
      ["file", "ENOTDIR"],
    ]) {
      const opening = openContained(workspaceDir, [name as string, "x"], true);
      await expect(opening).rejects.toThrow(NotAFolder);
      await expect(opening).rejects.toMatchObject({ cause: { code } });
    }
    expect(readdirSync(outside)).toEqual([]);
  });

  it("passes on other failures", async () => {
    const { workspaceDir } = temporaryWorkspace();
    const opening = openContained(workspaceDir, ["n".repeat(300)], false);
    await expect(opening).rejects.toMatchObject({ code: "ENAMETOOLONG" });
    await expect(openContained(workspaceDir, ["n".repeat(300)], true)).rejects.toMatchObject({
      code: "ENAMETOOLONG",
      syscall: "mkdir",
    });
  });

  it("leaves no descriptor open", async () => {
    const { workspaceDir } = temporaryWorkspace();
    writeFileSync(path.join(workspaceDir, "file"), "");
    const before = readdirSync("/proc/self/fd").length;
    for (let round = 0; round < 20; round += 1) {
      {
        await using folder = await openContained(workspaceDir, ["a", "b"], true);
        await folder?.replace("c.txt", BYTES);
      }
      expect(await openContained(workspaceDir, ["none"], false)).toBeUndefined();
      await expect(openContained(workspaceDir, ["file"], false)).rejects.toThrow(NotAFolder);
    }
    expect(readdirSync("/proc/self/fd").length).toBeLessThan(before + 10);
  });

  describe("replace", () => {
    it("stays in the folder that was opened when it is swapped for a link", async () => {
      const { workspaceDir, outside } = temporaryWorkspace();
      const notes = path.join(workspaceDir, "notes");
      mkdirSync(notes);
      await using folder = await openContained(workspaceDir, ["notes"], false);
      renameSync(notes, path.join(workspaceDir, "moved"));
      symlinkSync(outside, notes);
      await folder?.replace("a.txt", BYTES);
      expect(readdirSync(outside)).toEqual([]);
      expect(readdirSync(path.join(workspaceDir, "moved"))).toEqual(["a.txt"]);
    });

    it("replaces a link instead of writing through it", async () => {
      const { workspaceDir, outside } = temporaryWorkspace();
      const target = path.join(outside, "target.txt");
      writeFileSync(target, "outside");
      symlinkSync(target, path.join(workspaceDir, "a.txt"));
      await using folder = await openContained(workspaceDir, [], false);
      await folder?.replace("a.txt", BYTES);
      expect(readFileSync(target, "utf8")).toBe("outside");
      expect(readFileSync(path.join(workspaceDir, "a.txt"), "utf8")).toBe("text");
    });

    it("rejects with the first failure when the folder was removed", async () => {
      const { workspaceDir } = temporaryWorkspace();
      await using folder = await openContained(workspaceDir, ["notes"], true);
      rmdirSync(path.join(workspaceDir, "notes"));
      await expect(folder?.replace("a.txt", BYTES)).rejects.toMatchObject({
        code: "ENOENT",
        syscall: "open",
      });
    });

    it("makes a file that only its owner may read", async () => {
      const { workspaceDir } = temporaryWorkspace();
      await using folder = await openContained(workspaceDir, [], false);
      await folder?.replace("a.txt", BYTES);
      expect(statSync(path.join(workspaceDir, "a.txt")).mode & 0o777).toBe(0o600);
    });

    it("rejects where a folder has the name, and leaves no temporary file", async () => {
      const { workspaceDir } = temporaryWorkspace();
      mkdirSync(path.join(workspaceDir, "a.txt"));
      await using folder = await openContained(workspaceDir, [], false);
      await expect(folder?.replace("a.txt", BYTES)).rejects.toMatchObject({ code: "EISDIR" });
      expect(readdirSync(workspaceDir)).toEqual(["a.txt"]);
    });
  });
});
