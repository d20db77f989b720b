import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import { createScratchCopies } from "./wiring/dry-run/scratch-copies.ts";

/** Swaps folders and links without end. */
const SWAP = `const { renameSync } = require("node:fs");
const { parentPort, workerData: { workspace, count } } = require("node:worker_threads");
const move = (from, to) => { try { renameSync(from, to); } catch {} };
const all = Array.from({ length: count }, (_, index) => ["d", "x", "l"].map((kind) => workspace + "/" + kind + index));
for (let turn = 0; ; turn += 1) {
  for (const [folder, aside, link] of all) { move(folder, aside); move(link, folder); }
  for (const [folder, aside, link] of all) { move(folder, link); move(aside, folder); }
  if (turn === 0) parentPort.postMessage("swapped");
}`;
const SWAPPED = 10;
const COPIES = 40;
const LIMITS = { maxWorkspaceMb: 100, maxWorkspaceEntries: 1_000 } as Parameters<
  typeof createScratchCopies
>[0];

it("copies nothing from outside, and fails not, while a program swaps folders for links", async () => {
  const root = mkdtempSync(path.join(tmpdir(), "cem-swapped-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
  const [workspace, outside] = [path.join(root, "workspace"), path.join(root, "outside")];
  mkdirSync(outside);
  writeFileSync(path.join(outside, "key"), "secret");
  for (let index = 0; index < SWAPPED; index += 1) {
    mkdirSync(path.join(workspace, `d${index}`), { recursive: true });
    symlinkSync(outside, path.join(workspace, `l${index}`));
  }
  const swapping = new Worker(SWAP, { eval: true, workerData: { workspace, count: SWAPPED } });
  onTestFinished(async () => void (await swapping.terminate()));
  await once(swapping, "message");
  for (let turn = 0; turn < COPIES; turn += 1) {
    const copies = await createScratchCopies(LIMITS);
    const copy = await copies.copyOf(workspace);
    const folders = readdirSync(copy).filter((name) => lstatSync(path.join(copy, name)).isDirectory());
    expect(folders.filter((name) => existsSync(path.join(copy, name, "key")))).toEqual([]);
    await copies.remove();
  }
});
