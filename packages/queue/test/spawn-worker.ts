import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

/** Where a worker is started, and on what. */
export interface SpawnedWorker {
  url: string;
  /** The file that it writes calls into. */
  log: string;
  lostAfterMs: number;
  /** The words before its command. */
  before?: readonly string[];
}

/** Starts a worker as a process, and waits until it takes runs. */
export async function spawnWorker({
  url,
  log,
  lostAfterMs,
  before = [],
}: SpawnedWorker): Promise<ChildProcess> {
  const script = path.join(import.meta.dirname, "fault-worker.ts");
  const [command, ...args] = [
    ...before,
    process.execPath,
    "--conditions=@cem/source",
    script,
    url,
    log,
    String(lostAfterMs),
  ];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  return child;
}
