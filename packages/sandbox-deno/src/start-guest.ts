import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { accessSync, chmodSync, closeSync, constants, existsSync, lstatSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { isAbsolute } from "node:path";
import type { Guest, GuestExit } from "@cem/sandbox";
import { createGuest, createUsageReader, findDenoPackage, guestBootFile } from "@cem/sandbox/provider-kit";
import { CemError } from "@cem/core";
import { signalGroup } from "@cem/core/files";
import type { GuestPlan, IsolationBackend } from "./guest-plan.ts";

/** The owner's permission to list and to enter. */
const OPEN_BITS = 0o500;
const OWNER_BITS = 0o700;

/**
 * Restores the owner's permissions of a workspace from which a program removed those that guests need to start. A
 * workspace that only lacks write permission may be intended.
 */
function reopenWorkspace(workspaceDir: string): void {
  const found = lstatSync(workspaceDir, { throwIfNoEntry: false });
  if (found === undefined || !found.isDirectory() || found.uid !== process.getuid?.()) return;
  if ((found.mode & OPEN_BITS) !== OPEN_BITS) chmodSync(workspaceDir, (found.mode & 0o7777) | OWNER_BITS);
}

/** Spawns one guest and sends it the `init` message. */
export function startGuest(backend: IsolationBackend, guestPlan: GuestPlan): Guest {
  reopenWorkspace(guestPlan.workspaceDir);
  const plan = backend.plan(guestPlan);
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
  const { stdin, stdout, stderr } = child as ChildProcessWithoutNullStreams;
  let isClosed = false;
  const exited = new Promise<GuestExit>((resolve) => {
    const end = (exit: GuestExit) => {
      isClosed = true;
      if (plan.ownFolder !== undefined)
        void rm(plan.ownFolder, { recursive: true, force: true }).catch(() => {});
      resolve(exit);
    };
    child.once("close", (code, signal) => end({ code, signal }));
    child.once("error", (error) => end({ code: null, signal: `could not start: ${error.message}` }));
  });
  // Node creates no streams when too many files are open.
  if (child.stdin === undefined)
    throw new CemError("GUEST_START_FAILED", "Too many files are open (EMFILE).");
  const parts = [child, ...([stdin, stdout, stderr] as unknown as Socket[])];
  return createGuest(
    {
      stdin,
      stdout,
      stderr,
      exited,
      hasEnded: () => isClosed || child.exitCode !== null || child.signalCode !== null,
      usage: process.platform === "linux" ? createUsageReader(child.pid) : () => undefined,
      ref() {
        for (const part of parts) part.ref();
      },
      unref() {
        for (const part of parts) part.unref();
      },
      kill() {
        if (isClosed) return;
        // A launcher killed alone during set-up would leave a child that waits for it forever and keeps its pipes open.
        signalGroup(child, "SIGKILL");
        child.kill("SIGKILL");
      },
    },
    plan.init,
  );
}

function unavailable(message: string): CemError {
  return new CemError("SANDBOX_UNAVAILABLE", message, {
    details: { platform: process.platform, arch: process.arch },
  });
}

/**
 * Finds the Deno binary to spawn.
 *
 * @param denoPath - Absolute path; `undefined` for the binary that npm installed for this platform.
 * @throws CemError `SANDBOX_UNAVAILABLE` when there is none, or the guest runner is missing.
 */
export function findDeno(denoPath: string | undefined): string {
  if (!existsSync(guestBootFile))
    throw unavailable(`${guestBootFile} is missing. Bundlers leave it out: keep these packages external.`);
  if (denoPath !== undefined) {
    if (!isAbsolute(denoPath)) throw unavailable(`denoPath has to be absolute; it is "${denoPath}".`);
    try {
      accessSync(denoPath, constants.X_OK);
    } catch {
      throw unavailable(`denoPath ${denoPath} is not an executable file.`);
    }
    return denoPath;
  }
  const { name, file } = findDenoPackage(import.meta.url);
  if (file !== undefined) return file;
  throw unavailable(
    `The Deno binary for this platform is missing: the optional package ${name} is not installed. Install it, or set denoPath to a Deno 2.9 binary.`,
  );
}
