import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { CemError } from "@cem/core";
import { expect, it, onTestFinished } from "vitest";
import { readWorkspaceFile, writeWorkspaceFile } from "./workspace-files.ts";

/** Swaps folders and links without end. */
const SWAP = `const { renameSync } = require("node:fs");
const { parentPort, workerData: { workspace, count } } = require("node:worker_threads");
const move = (from, to) => { try { renameSync(from, to); } catch {} };
for (let turn = 0; ; turn += 1) {
  for (let index = 0; index < count; index += 1) {
    const [folder, aside, link] = ["d", "x", "l"].map((kind) => workspace + "/" + kind + index);
    move(folder, aside); move(link, folder); move(folder, link); move(aside, folder);
  }
  if (turn === 0) parentPort.postMessage("swapped");
}`;
const SWAPPED = 30;
const ROUNDS = 20;

it("reads and writes nothing outside while a program swaps folders for links", async () => {
  const root = mkdtempSync(path.join(tmpdir(), "cem-swapped-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
  const [workspace, outside] = [path.join(root, "workspace"), path.join(root, "outside")];
  mkdirSync(outside);
  writeFileSync(path.join(outside, "key"), "secret");
  for (let index = 0; index < SWAPPED; index += 1) {
    mkdirSync(path.join(workspace, `d${index}`), { recursive: true });
    writeFileSync(path.join(workspace, `d${index}`, "key"), "harmless");
    symlinkSync(outside, path.join(workspace, `l${index}`));
  }
  const swapping = new Worker(SWAP, { eval: true, workerData: { workspace, count: SWAPPED } });
  onTestFinished(async () => void (await swapping.terminate()));
  await once(swapping, "message");
  const found = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let index = 0; index < SWAPPED; index += 1) {
      const read = readWorkspaceFile(workspace, `d${index}/key`).then(({ bytes }) => String(bytes));
      found.add(
        await read.catch((error: unknown) => (CemError.isInstance(error) ? error.code : String(error))),
      );
      await writeWorkspaceFile(workspace, `d${index}/out.pdf`, Buffer.from("filled")).catch(() => undefined);
    }
  }
  expect([...found].filter((one) => one !== "FILE_UNREADABLE")).toEqual(["harmless"]);
  expect(readdirSync(outside)).toEqual(["key"]);
});

it("writes a file whose name is as long as the system takes", async () => {
  const root = mkdtempSync(path.join(tmpdir(), "cem-long-name-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const name = "n".repeat(255);
  await writeWorkspaceFile(root, `within/${name}`, Buffer.from("filled"));
  expect(readdirSync(path.join(root, "within"))).toEqual([name]);
});
