import type { NetworkPolicy } from "@cem/core";
import { networkRules } from "./network-rules.ts";

export interface DenoArguments {
  bootFile: string;
  importMapFile: string;
  read: readonly string[];
  denyRead: readonly string[];
  write: readonly string[];
  denyWrite: readonly string[];
  network: NetworkPolicy;
  memoryMb: number;
}

/** Deno splits lists at commas; a comma in a path is doubled. */
function pathList(paths: readonly string[]): string {
  return paths.map((path) => path.replaceAll(",", ",,")).join(",");
}

function networkFlags(network: NetworkPolicy): string[] {
  if (network === "none") return ["--deny-net"];
  const { allow, deny } = networkRules(network);
  return [allow === "all" ? "--allow-net" : `--allow-net=${allow.join(",")}`, `--deny-net=${deny.join(",")}`];
}

/** The arguments that start the guest runner with no more rights than it needs. */
export function denoArguments(settings: DenoArguments): string[] {
  const { bootFile, importMapFile, read, denyRead, write, denyWrite, network, memoryMb } = settings;
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
    // Caches are of no use to a guest whose own they are, and cost each module a write.
    "--no-code-cache",
    `--import-map=${importMapFile}`,
    `--allow-read=${pathList(read)}`,
    ...(denyRead.length > 0 ? [`--deny-read=${pathList(denyRead)}`] : []),
    `--allow-write=${pathList(write)}`,
    ...(denyWrite.length > 0 ? [`--deny-write=${pathList(denyWrite)}`] : []),
    ...networkFlags(network),
    "--ignore-env",
    "--deny-run",
    "--deny-ffi",
    // What `access` of node:fs asks for; of the host it says nothing. All else about the system stays denied.
    "--allow-sys=uid,gid",
    "--deny-import",
    `--v8-flags=--max-old-space-size=${Math.max(16, Math.floor(memoryMb))}`,
    bootFile,
  ];
}
