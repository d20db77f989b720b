import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");

/** A server that was started. */
interface Started {
  child: ChildProcess;
  log: () => string;
}

/**
 * Starts the server as a process that ends with the test, in a folder that goes with it.
 *
 * @param configIn - The text of config.yaml, for that folder.
 */
export function start(env: Record<string, string>, configIn?: (folder: string) => string): Started {
  const cwd = mkdtempSync(path.join(os.tmpdir(), "cem-server-app-"));
  if (configIn !== undefined) writeFileSync(path.join(cwd, "config.yaml"), configIn(cwd));
  const args = ["--conditions=@cem/source", path.join(root, "apps/server/src/main.ts")];
  const child = spawn(process.execPath, args, {
    cwd,
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      SERVERS_DIR: path.join(root, "servers"),
      CEM_SERVER_PORT: "0",
      ...env,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  onTestFinished(async () => {
    if (child.kill("SIGKILL")) await once(child, "close");
    rmSync(cwd, { recursive: true, force: true });
  });
  return { child, log: () => log };
}
