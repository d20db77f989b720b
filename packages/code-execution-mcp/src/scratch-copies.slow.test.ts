import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { swapFolders } from "../../core/fixtures/swapped-folders.ts";
import { createScratchCopies } from "./wiring/dry-run/scratch-copies.ts";

const SWAPPED = 10;
const COPIES = 40;
const LIMITS = { maxWorkspaceMb: 100, maxWorkspaceEntries: 1_000 } as Parameters<
  typeof createScratchCopies
>[0];

it("copies nothing from outside, and fails not, while a program swaps folders for links", async () => {
  const root = mkdtempSync(path.join(tmpdir(), "cem-swapped-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
  const [workspace, outside] = [path.join(root, "workspace"), path.join(root, "outside")];
  await swapFolders({ workspace, outside, count: SWAPPED });
  for (let turn = 0; turn < COPIES; turn += 1) {
    const copies = await createScratchCopies(LIMITS);
    const copy = await copies.copyOf(workspace);
    const folders = readdirSync(copy).filter((name) => lstatSync(path.join(copy, name)).isDirectory());
    expect(folders.filter((name) => existsSync(path.join(copy, name, "key")))).toEqual([]);
    await copies.remove();
  }
});
