import type { NetworkPolicy } from "@cem/core";
import { networkRules } from "../workspace/network-rules.ts";

/** Files and permissions of one Deno process. Paths are as that process sees them. */
export interface DenoArguments {
  /** The guest runner's entry file. */
  bootFile: string;
  read: readonly string[];
  denyRead: readonly string[];
  write: readonly string[];
  denyWrite: readonly string[];
  network: NetworkPolicy;
  /** Limit of V8's heap, in MiB. */
  memoryMb: number;
}

/** Deno separates paths by commas; a comma within a path is escaped by doubling it. */
function pathList(paths: readonly string[]): string {
  return paths.map((path) => path.replaceAll(",", ",,")).join(",");
}

function networkFlags(network: NetworkPolicy): string[] {
  if (network === "none") return ["--deny-net"];
  const { allow, deny } = networkRules(network);
  return [allow === "all" ? "--allow-net" : `--allow-net=${allow.join(",")}`, `--deny-net=${deny.join(",")}`];
}

/** Builds the arguments that start the guest runner with the least permissions it needs. */
export function denoArguments(settings: DenoArguments): string[] {
  const { bootFile, read, denyRead, write, denyWrite, network, memoryMb } = settings;
  return [
    "run",
    "--quiet",
    "--no-prompt",
    "--no-config",
    "--no-lock",
    "--no-remote",
    "--no-npm",
    "--node-modules-dir=none",
    "--no-check",
    // The guest's cache folder is private and discarded, so writing to it is wasted work.
    "--no-code-cache",
    `--allow-read=${pathList(read)}`,
    ...(denyRead.length > 0 ? [`--deny-read=${pathList(denyRead)}`] : []),
    `--allow-write=${pathList(write)}`,
    ...(denyWrite.length > 0 ? [`--deny-write=${pathList(denyWrite)}`] : []),
    ...networkFlags(network),
    "--ignore-env",
    "--deny-run",
    "--deny-ffi",
    // Needed by node:fs `access`. All other system information stays denied.
    "--allow-sys=uid,gid",
    "--deny-import",
    `--v8-flags=--max-old-space-size=${Math.max(16, Math.floor(memoryMb))}`,
    bootFile,
  ];
}
