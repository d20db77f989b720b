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
/** The folder in a machine for files of its sandbox alone. */
const GUEST_FOLDER = "/etc/cem";
const HIDDEN = `throw new Error("This file runs on the host, where code in the sandbox can't see it. Import its tools from ./servers/<server>/index.ts.");`;

/** A sandbox's import map and its place on host and guest. */
export interface GuestImports {
  /** Path of the import map in the guest. Absent: the runtime's own import map is enough. */
  file?: string | undefined;
  /** The mount that holds it. */
  mount?: { hostPath: string; guestPath: string; readOnly: true } | undefined;
  /** Removes its folder on the host. */
  remove(): void;
}

/** The runtime's imports: the client module. */
export function runtimeImports(bootUrl: string): Record<string, string> {
  return { [GUEST_CLIENT_SPECIFIER]: bootUrl, [`file://${GUEST_CLIENT_FILE}`]: bootUrl };
}

/** Refuses hidden files in writable mounts: Deno's permissions go by path, and a program could rename their folder. */
function checkHidden(spec: SandboxSpec): void {
  for (const path of spec.hidden ?? []) {
    const place = placeOf(spec, path);
    if (place === undefined || place.readOnly) continue;
    const message = `${path} can't be hidden in a microVM, since ${place.guestPath} is writable there. Mount its folder read-only.`;
    throw new CemError("SANDBOX_SPEC_INVALID", message, { details: { hidden: path } });
  }
}

/**
 * Builds a sandbox's imports: the client module, generated modules for tools on the host, placeholders for hidden
 * files.
 *
 * @throws CemError `SANDBOX_SPEC_INVALID` when a file can't be hidden.
 */
export function guestImports(bootUrl: string, spec: SandboxSpec): Record<string, string> {
  const { hostTools = {}, hidden = [] } = spec;
  checkHidden(spec);
  const modules = Object.entries(hostTools).map(([server, tools]): [string, string] => {
    const url = `file://${hostToolModule(server)}`;
    const hasFile = existsSync(toHostPath(spec, hostToolModule(server)));
    return [url, hostToolModuleUrl(server, tools, hasFile ? url : undefined)];
  });
  const placeholder = `data:text/javascript,${encodeURIComponent(HIDDEN)}`;
  return {
    ...runtimeImports(bootUrl),
    ...Object.fromEntries(modules),
    ...Object.fromEntries(hidden.map((path) => [`file://${path}`, placeholder])),
  };
}

/**
 * Writes a sandbox's import map, if it has tools on the host or hidden files.
 *
 * @throws CemError `SANDBOX_SPEC_INVALID` when a file can't be hidden.
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

/** The host path of a guest path in the workspace or a mount. */
function toHostPath(spec: SandboxSpec, path: string): string {
  const place = placeOf(spec, path);
  return place === undefined ? path : join(place.hostPath, path.slice(place.guestPath.length));
}

/** The innermost mount, or the workspace, that contains a guest path. */
function placeOf({ workspaceDir, mounts = [] }: SandboxSpec, path: string): Mount | undefined {
  const workspace = { guestPath: GUEST_WORKSPACE, hostPath: workspaceDir, readOnly: false };
  return [workspace, ...mounts]
    .toSorted((one, other) => other.guestPath.length - one.guestPath.length)
    .find(({ guestPath }) => path.startsWith(`${guestPath}/`));
}
