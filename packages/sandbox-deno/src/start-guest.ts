import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { type Guest, type GuestExit } from "@cem/sandbox";
import { createUsageReader, encodeHostMessage } from "@cem/sandbox/provider-kit";
import type { SpawnPlan } from "./isolation-backend.ts";

const TOKEN_BYTES = 16;

/**
 * Spawns one guest and sends it the `init` message.
 *
 * @param reuse - Whether the guest may serve more than one run.
 */
export function startGuest(plan: SpawnPlan, reuse = false): Guest {
  const token = randomBytes(TOKEN_BYTES).toString("hex");
  const descriptor = plan.descriptorFile === undefined ? undefined : openSync(plan.descriptorFile, "r");
  const child = spawn(plan.file, plan.args, {
    cwd: plan.cwd,
    env: plan.env,
    // In a process group of its own: Ctrl-C in a terminal reaches only the host, which then ends its guests.
    detached: process.platform !== "win32",
    windowsHide: true,
    stdio: ["pipe", "pipe", "pipe", ...(descriptor === undefined ? [] : [descriptor])],
  });
  if (descriptor !== undefined) closeSync(descriptor);
  const { stdin, stdout, stderr } = child as unknown as {
    stdin: Writable;
    stdout: Readable;
    stderr: Readable;
  };
  let alive = true;
  const exited = new Promise<GuestExit>((resolve) => {
    const end = (exit: GuestExit) => {
      alive = false;
      if (plan.ownFolder !== undefined)
        void rm(plan.ownFolder, { recursive: true, force: true }).catch(() => {});
      resolve(exit);
    };
    child.once("close", (code, signal) => end({ code, signal }));
    child.once("error", (error) => end({ code: null, signal: `could not start: ${error.message}` }));
  });
  const streams = [stdin, stdout, stderr] as unknown as Socket[];
  stdin.write(encodeHostMessage({ type: "init", token, reuse, ...plan.init }));
  return {
    token,
    stdin,
    stdout,
    stderr,
    exited,
    get alive() {
      return alive && child.exitCode === null && child.signalCode === null;
    },
    usage: process.platform === "linux" ? createUsageReader(child.pid) : () => undefined,
    ref() {
      child.ref();
      for (const stream of streams) stream.ref();
    },
    unref() {
      child.unref();
      for (const stream of streams) stream.unref();
    },
    kill() {
      if (alive) killGroup(child);
    },
  };
}

/**
 * Kills a process and its children: a launcher killed during its set-up would leave a child that waits for it forever
 * and holds its pipes open.
 */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform !== "win32") process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group is gone.
  }
  child.kill("SIGKILL");
}
