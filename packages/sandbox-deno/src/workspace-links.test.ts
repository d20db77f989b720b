import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createLinkSearch, hasLinkBetween } from "./workspace-links.ts";

/** Longer than a tick of any system's clock of files. */
const tick = () => new Promise((resolve) => setTimeout(resolve, 20));

describe("links in a workspace", () => {
  let folder = "";
  let workspace = "";
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "cem-links-")));
    workspace = join(folder, "ws");
    mkdirSync(join(workspace, "deep/er"), { recursive: true });
    mkdirSync(join(folder, "ws-evil"));
    writeFileSync(join(workspace, "file.txt"), "x");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ["a folder outside", "/etc"],
    ["a file outside", "/etc/hostname"],
    ["the folder above", "../../.."],
    ["a folder whose name begins alike", "../../../ws-evil"],
    ["nowhere, from where it could be made", "../../../made-later"],
    ["itself", "link"],
  ])("are found when they lead to %s", async (_, target) => {
    const link = join(workspace, "deep/er/link");
    symlinkSync(target, link);
    expect(await createLinkSearch([workspace])()).toBe(link);
  });

  it("may stay when they lead inside wherever they are moved", async () => {
    symlinkSync("er", join(workspace, "deep/link"));
    symlinkSync(join(workspace, "deep"), join(workspace, "absolute"));
    expect(await createLinkSearch([workspace])()).toBeUndefined();
  });

  it.each(["../file.txt", "er/../../file.txt"])(
    "are found when they lead inside by %s, where they can be moved",
    async (target) => {
      const link = join(workspace, "deep/link");
      symlinkSync(target, link);
      expect(await createLinkSearch([workspace])()).toBe(link);
      expect(await createLinkSearch([workspace], [workspace])()).toBeUndefined();
    },
  );

  it("may lead from one root to another", async () => {
    const other = join(folder, "ws-evil");
    symlinkSync(other, join(workspace, "link"));
    expect(await createLinkSearch([workspace, other])()).toBeUndefined();
  });

  it("are found by a later search of folders that were read before, and may lead elsewhere by then", async () => {
    const old = new Date(Date.now() - 3_600_000);
    const search = createLinkSearch([workspace]);
    const clock = vi.spyOn(Date, "now").mockImplementation(() => old.getTime() + 7_200_000);
    try {
      symlinkSync(join(workspace, "file.txt"), join(workspace, "deep/inside"));
      expect(await search()).toBeUndefined();
      await tick();
      expect(await search()).toBeUndefined();
      // With the time of a folder that is long unchanged, which a program can set.
      symlinkSync("/etc", join(workspace, "deep/er/link"));
      utimesSync(join(workspace, "deep/er"), old, old);
      expect(await search()).toBe(join(workspace, "deep/er/link"));
      await tick();
      rmSync(join(workspace, "deep/er/link"));
      expect(await search()).toBeUndefined();
      await tick();
      mkdirSync(join(workspace, "made/later"), { recursive: true });
      expect(await search()).toBeUndefined();
      await tick();
      renameSync(join(workspace, "file.txt"), join(workspace, "moved.txt"));
      expect(await search()).toBe(join(workspace, "deep/inside"));
    } finally {
      clock.mockRestore();
    }
  });

  it("are found right after a search, in the same tick of the clock", async () => {
    const search = createLinkSearch([workspace]);
    for (let round = 0; round < 50; round += 1) {
      const link = join(workspace, "deep/er", `link${round}`);
      expect(await search()).toBeUndefined();
      symlinkSync("/etc", link);
      expect(await search()).toBe(link);
      rmSync(link);
    }
  });

  it("are searched for in turns, so that others have the thread", async () => {
    for (let index = 0; index < 1_200; index += 1) mkdirSync(join(workspace, `folder${index}`));
    const search = createLinkSearch([workspace]);
    const later = Date.now() + 3_600_000;
    const clock = vi.spyOn(Date, "now").mockReturnValue(later);
    onTestFinished(() => clock.mockRestore());
    await search();
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await search();
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });

  it("are seen on the way to a mount's place", async () => {
    symlinkSync("/etc", join(workspace, "servers"));
    expect(await hasLinkBetween(workspace, join(workspace, "servers/x"))).toBe(true);
    expect(await hasLinkBetween(workspace, join(workspace, "deep/er"))).toBe(false);
    expect(await hasLinkBetween(workspace, join(workspace, "not/yet/there"))).toBe(false);
  });
});
