import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { vi } from "vitest";
import { SAMPLES, startCem, temporaryFolder } from "./run-cem.ts";
import type { RunningCem } from "./run-cem.ts";
import { CEM_COMMAND, COMPILE_CACHE } from "./spawn-cem.ts";

/** Starts `cem serve http|sse` in this process on a free port, and resolves with where it listens, as its log says. */
export async function startServing(transport: "http" | "sse"): Promise<RunningCem & { url: string }> {
  const cwd = temporaryFolder();
  const log = path.join(cwd, "serve.log");
  writeFileSync(path.join(cwd, "config.yaml"), `logging:\n  file: ${log}\n`);
  const running = startCem(["serve", transport, "--port", "0", ...SAMPLES], { cwd });
  const url = await vi.waitFor(
    () => {
      const [, found] = /"url":"([^"]+)"/u.exec(readFileSync(log, "utf8")) ?? [];
      if (found === undefined) throw new Error("It does not listen yet.");
      return found;
    },
    { timeout: 30_000, interval: 20 },
  );
  return { ...running, url };
}

/** How to start the server as a process. Types are not checked there: each process would load the compiler. */
export function stdio(): {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  stderr: "ignore";
} {
  const [node = "", ...before] = CEM_COMMAND;
  const cwd = temporaryFolder();
  writeFileSync(path.join(cwd, "config.yaml"), "execution:\n  type_check: off\n");
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: cwd,
    CEM_TRUST_FOLDER: "1",
    NODE_COMPILE_CACHE: COMPILE_CACHE,
  };
  return { command: node, args: [...before, "serve", ...SAMPLES], cwd, env, stderr: "ignore" };
}
