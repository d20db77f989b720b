import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CemError } from "@cem/core";
import { expect, it, onTestFinished } from "vitest";
import { swapFolders } from "../../../core/fixtures/swapped-folders.ts";
import { readWorkspaceFile, writeWorkspaceFile } from "./workspace-files.ts";

const SWAPPED = 30;
const ROUNDS = 20;

it("reads and writes nothing outside while a program swaps folders for links", async () => {
  const root = mkdtempSync(path.join(tmpdir(), "cem-swapped-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
  const [workspace, outside] = [path.join(root, "workspace"), path.join(root, "outside")];
  await swapFolders({ workspace, outside, count: SWAPPED }, { key: "harmless" });
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
