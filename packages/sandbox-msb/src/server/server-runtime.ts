import { basename, dirname } from "node:path";
import type { Mount, SandboxSpec } from "@cem/core";
import {
  denoArguments,
  GUEST_RUNNER,
  GUEST_WORKSPACE,
  guestBootFile,
  guestEnvironment,
} from "@cem/sandbox/provider-kit";
import { runnerFiles } from "../guest-runtime.ts";
import type { MicrovmCommand } from "../microvm-driver.ts";
import type { UploadedFile } from "./server-machine.ts";

const BYTES_PER_MIB = 1024 * 1024;
const BOOT_FILE = `${GUEST_RUNNER}/guest/${basename(guestBootFile)}`;

/** The workspace and the mounts. */
export function guestMounts({ workspaceDir, mounts = [] }: SandboxSpec): Mount[] {
  return [{ hostPath: workspaceDir, guestPath: GUEST_WORKSPACE, readOnly: false }, ...mounts];
}

/** The files to upload for a guest besides Deno: the guest runner, below `guest/`. */
export function guestFiles(): UploadedFile[] {
  return runnerFiles(dirname(guestBootFile)).map(({ name, data }) => ({ name: `guest/${name}`, data }));
}

/** The command that starts the guest runner. Deno's permissions alone enforce read-only mounts: the server mounts everything writable. */
export function guestCommand(
  spec: SandboxSpec,
  limits: { memoryMb: number; writeMb: number },
): MicrovmCommand {
  const { mounts = [], hidden = [], network = "none" } = spec;
  const paths = mounts.map(({ guestPath }) => guestPath);
  const readOnly = mounts.filter((mount) => mount.readOnly).map(({ guestPath }) => guestPath);
  return {
    file: "deno",
    args: denoArguments({
      bootFile: BOOT_FILE,
      read: [GUEST_WORKSPACE, ...paths],
      denyRead: hidden,
      write: [GUEST_WORKSPACE, ...paths.filter((path) => !readOnly.includes(path))],
      denyWrite: [...readOnly, ...hidden],
      network,
      memoryMb: limits.memoryMb,
    }),
    cwd: GUEST_WORKSPACE,
    env: guestEnvironment("/tmp/deno"),
    fileBytes: Math.ceil(limits.writeMb) * BYTES_PER_MIB,
  };
}
