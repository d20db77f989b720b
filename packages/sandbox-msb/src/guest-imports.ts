import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CemError, type Mount, type SandboxSpec } from "@cem/core";
import { GUEST_CLIENT_SPECIFIER } from "@cem/sandbox";
import {
  GUEST_CLIENT_FILE,
  GUEST_WORKSPACE,
  hostToolModule,
  hostToolModuleUrl,
} from "@cem/sandbox/provider-kit";

const FILE = "import-map.json";
/** Where a machine sees what belongs to its sandbox alone. */
const GUEST_FOLDER = "/etc/cem";
const HIDDEN = `throw new Error("This file runs on the host, where code in the sandbox can't see it. Import its tools from ./servers/<server>/index.ts.");`;

/** Where the guest's imports lead. */
export interface GuestImports {
  /** The import map, as the guest sees it; absent where that of the runtime will do. */
  file?: string | undefined;
  /** A folder of the host to show to the guest, read-only. */
  mount?: { hostPath: string; guestPath: string; readOnly: true } | undefined;
  remove(): void;
}

/** The import map of the runtime: the client module. */
export function runtimeImports(bootUrl: string): Record<string, string> {
  return { [GUEST_CLIENT_SPECIFIER]: bootUrl, [`file://${GUEST_CLIENT_FILE}`]: bootUrl };
}

/** Deno's permissions go by path: where a program may rename folders, they hide nothing. */
function checkHidden(spec: SandboxSpec): void {
  for (const path of spec.hidden ?? []) {
    const place = placeOf(spec, path);
    if (place === undefined || place.readOnly) continue;
    const message = `${path} can't be hidden in a microVM: ${place.guestPath} can be written there. Mount its folder read-only.`;
    throw new CemError("SANDBOX_SPEC_INVALID", message, { details: { hidden: path } });
  }
}

/**
 * The import map of a sandbox: the client module, its tools on the host, and what stands for hidden files.
 *
 * @throws CemError `SANDBOX_SPEC_INVALID` for a file that can't be hidden.
 */
export function guestImports(bootUrl: string, spec: SandboxSpec): Record<string, string> {
  const { hostTools = {}, hidden = [] } = spec;
  checkHidden(spec);
  const modules = Object.entries(hostTools).map(([server, tools]): [string, string] => {
    const url = `file://${hostToolModule(server)}`;
    const hasFile = existsSync(toHostPath(spec, hostToolModule(server)));
    return [url, hostToolModuleUrl(server, tools, hasFile ? url : undefined)];
  });
  const standIn = `data:text/javascript,${encodeURIComponent(HIDDEN)}`;
  return {
    ...runtimeImports(bootUrl),
    ...Object.fromEntries(modules),
    ...Object.fromEntries(hidden.map((path) => [`file://${path}`, standIn])),
  };
}

/**
 * Writes an import map of a sandbox's own, where it has tools on the host or hidden files.
 *
 * @throws CemError `SANDBOX_SPEC_INVALID` for a file that can't be hidden.
 */
export function writeGuestImports(home: string, bootUrl: string, spec: SandboxSpec): GuestImports {
  const { hostTools = {}, hidden = [] } = spec;
  if (hidden.length === 0 && Object.keys(hostTools).length === 0) return { remove: () => {} };
  const imports = guestImports(bootUrl, spec);
  mkdirSync(home, { recursive: true });
  const hostPath = mkdtempSync(join(home, `sandbox-${process.pid}-`));
  writeFileSync(join(hostPath, FILE), JSON.stringify({ imports }));
  return {
    file: `${GUEST_FOLDER}/${FILE}`,
    mount: { hostPath, guestPath: GUEST_FOLDER, readOnly: true },
    remove: () => rmSync(hostPath, { recursive: true, force: true }),
  };
}

/** Where a path under the workspace or a mount of it really is. */
function toHostPath(spec: SandboxSpec, path: string): string {
  const place = placeOf(spec, path);
  return place === undefined ? path : join(place.hostPath, path.slice(place.guestPath.length));
}

/** The workspace or the mount that holds a path: the innermost one. */
function placeOf({ workspaceDir, mounts = [] }: SandboxSpec, path: string): Mount | undefined {
  const workspace = { guestPath: GUEST_WORKSPACE, hostPath: workspaceDir, readOnly: false };
  return [workspace, ...mounts]
    .toSorted((one, other) => other.guestPath.length - one.guestPath.length)
    .find(({ guestPath }) => path.startsWith(`${guestPath}/`));
}
