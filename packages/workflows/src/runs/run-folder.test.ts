import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { takeRun } from "./run-folder.ts";

it("lets one of many who want a run execute it", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "cem-lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const place = { id: "r", folder, file: "", journal: "" };
  const taken = await Promise.allSettled(Array.from({ length: 20 }, () => takeRun(place)));
  const holders = taken.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  expect(holders).toHaveLength(1);
  await expect(takeRun(place)).rejects.toMatchObject({ code: "WORKFLOW_RUN_BUSY" });
  holders[0]?.release();
  (await takeRun(place)).release();
  expect(readdirSync(folder)).toEqual([]);
});
