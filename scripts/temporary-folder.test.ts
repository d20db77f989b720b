import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";

const module = path.join(import.meta.dirname, "temporary-folder.ts");
const SCRIPT = `
const { temporaryFolder } = await import(${JSON.stringify(module)});
const folder = temporaryFolder("cem-try");
const { mkdtempSync } = await import("node:fs");
const { tmpdir } = await import("node:os");
mkdtempSync(tmpdir() + "/of-a-server-");
console.log(folder);
setInterval(() => {}, 1_000);
`;

/** Starts a script in a folder for temporary files of its own, and resolves to what it made. */
async function start(parent: string): Promise<{ child: ChildProcess; folder: string }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", SCRIPT], {
    env: { ...process.env, TMPDIR: parent, TEMP: parent },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [text] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  return { child, folder: String(text).trim() };
}

it.each(["SIGTERM", "SIGINT", "SIGKILL"] as const)("leaves nothing behind after %s", async (signal) => {
  const parent = mkdtempSync(path.join(os.tmpdir(), "cem-temporary-"));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const { child, folder } = await start(parent);
  expect(existsSync(folder)).toBe(true);
  child.kill(signal);
  await once(child, "close");
  // Its folder, and the one of its servers and workers.
  expect(readdirSync(parent)).toHaveLength(signal === "SIGKILL" ? 2 : 0);
  const next = await start(parent);
  expect(readdirSync(parent)).toHaveLength(2);
  expect(existsSync(next.folder)).toBe(true);
  expect(existsSync(folder)).toBe(false);
});
