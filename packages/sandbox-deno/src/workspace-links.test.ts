import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findLeavingLink, hasLinkBetween } from "./workspace-links.ts";

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
    expect(await findLeavingLink([workspace])).toBe(link);
  });

  it("may stay when they lead inside, by any way", async () => {
    symlinkSync("../file.txt", join(workspace, "deep/link"));
    symlinkSync(join(workspace, "deep"), join(workspace, "absolute"));
    expect(await findLeavingLink([workspace])).toBeUndefined();
  });

  it("may lead from one root to another", async () => {
    const other = join(folder, "ws-evil");
    symlinkSync(other, join(workspace, "link"));
    expect(await findLeavingLink([workspace, other])).toBeUndefined();
  });

  it("are seen on the way to a mount's place", async () => {
    symlinkSync("/etc", join(workspace, "servers"));
    expect(await hasLinkBetween(workspace, join(workspace, "servers/x"))).toBe(true);
    expect(await hasLinkBetween(workspace, join(workspace, "deep/er"))).toBe(false);
    expect(await hasLinkBetween(workspace, join(workspace, "not/yet/there"))).toBe(false);
  });
});
