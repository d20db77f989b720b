import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Mount, SandboxSpec } from "@cem/core";
import {
  denoArguments,
  GUEST_CLIENT_FILE,
  GUEST_CLIENT_SPECIFIER,
  GUEST_RUNNER,
  GUEST_WORKSPACE,
  guestBootFile,
  guestEnvironment,
  hostToolModule,
  hostToolModuleUrl,
} from "@cem/sandbox";
import { runnerFiles } from "../guest-runtime.ts";
import type { MicrovmCommand } from "../microvm-driver.ts";
import type { BroughtFile } from "./server-machine.ts";

const BYTES_PER_MIB = 1024 * 1024;
const BOOT_URL = `file://${GUEST_RUNNER}/guest/${basename(guestBootFile)}`;
/** What the guest finds in place of a hidden file. */
const HIDDEN_URL = `data:text/javascript,${encodeURIComponent(
  `throw new Error("This file runs on the host, where code in the sandbox can't see it. Import its tools from ./servers/<server>/index.ts.");`,
)}`;

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
  return [...runner, { name: "import-map.json", data: Buffer.from(importMap(spec)) }];
}

function importMap(spec: SandboxSpec): string {
  const imports: Record<string, string> = {
    [GUEST_CLIENT_SPECIFIER]: BOOT_URL,
    [`file://${GUEST_CLIENT_FILE}`]: BOOT_URL,
  };
  for (const [server, tools] of Object.entries(spec.hostTools ?? {})) {
    const path = hostToolModule(server);
    const ownFile = existsSync(onHost(path, guestMounts(spec))) ? `file://${path}` : undefined;
    imports[`file://${path}`] = hostToolModuleUrl(server, tools, ownFile);
  }
  for (const path of spec.hidden ?? []) imports[`file://${path}`] = HIDDEN_URL;
  return JSON.stringify({ imports });
}

function onHost(path: string, mounts: readonly Mount[]): string {
  const [nearest] = mounts
    .filter(({ guestPath }) => path.startsWith(`${guestPath}/`))
    .toSorted((a, b) => b.guestPath.length - a.guestPath.length);
  return nearest === undefined ? path : nearest.hostPath + path.slice(nearest.guestPath.length);
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
