import { basename, dirname } from "node:path";
import type { Mount, SandboxSpec } from "@cem/core";
import {
  denoArguments,
  GUEST_RUNNER,
  GUEST_WORKSPACE,
  guestBootFile,
  guestEnvironment,
} from "@cem/sandbox/provider-kit";
import { guestImports } from "../guest-imports.ts";
import { runnerFiles } from "../guest-runtime.ts";
import type { MicrovmCommand } from "../microvm-driver.ts";
import type { BroughtFile } from "./server-machine.ts";

const BYTES_PER_MIB = 1024 * 1024;
const BOOT_URL = `file://${GUEST_RUNNER}/guest/${basename(guestBootFile)}`;

/** The workspace and the mounts, as the guest sees them. */
export function guestMounts({ workspaceDir, mounts = [] }: SandboxSpec): Mount[] {
  return [{ hostPath: workspaceDir, guestPath: GUEST_WORKSPACE, readOnly: false }, ...mounts];
}

/** What a guest needs beside Deno: the runner and where its modules are. */
export function guestFiles(spec: SandboxSpec): BroughtFile[] {
  const runner = runnerFiles(dirname(guestBootFile)).map(({ name, data }) => ({
    name: `guest/${name}`,
    data,
  }));
  const importMap = JSON.stringify({ imports: guestImports(BOOT_URL, spec) });
  return [...runner, { name: "import-map.json", data: Buffer.from(importMap) }];
}

/** How the runner is started. All that the guest may not do, Deno's permissions have to hold: the server mounts everything writable. */
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
      bootFile: `${GUEST_RUNNER}/guest/${basename(guestBootFile)}`,
      importMapFile: `${GUEST_RUNNER}/import-map.json`,
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
