import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { spawnWorker } from "./spawn-worker.ts";

/** Workers as processes, until the test ends. */
export interface RealWorkers {
  /** Starts one. @param before - What stands before its command. */
  work: (before?: readonly string[]) => Promise<ChildProcess>;
  /** The arguments that their tools were called with, in order. */
  calls: () => string[];
}

export function realWorkers(url: string, lostAfterMs: number): RealWorkers {
  const folder = mkdtempSync(path.join(os.tmpdir(), "workers-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const log = path.join(folder, "calls.log");
  writeFileSync(log, "");
  return {
    async work(before = []) {
      const worker = await spawnWorker({ url, log, lostAfterMs, before });
      onTestFinished(() => void worker.kill("SIGKILL"));
      return worker;
    },
    calls: () => readFileSync(log, "utf8").split("\n").filter(Boolean),
  };
}
