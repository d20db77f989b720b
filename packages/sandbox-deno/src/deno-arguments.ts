import type { NetworkPolicy } from "@cem/core";

export interface DenoArguments {
  bootFile: string;
  importMapFile: string;
  read: readonly string[];
  write: readonly string[];
  denyWrite: readonly string[];
  network: NetworkPolicy;
  memoryMb: number;
}

/** Addresses that lead to this machine, its neighbours, or a cloud's metadata service. */
export const INTERNAL_NETWORKS: readonly string[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "[::]/128",
  "[::1]/128",
  "[fc00::]/7",
  "[fe80::]/10",
  "localhost",
];

/** Deno splits lists at commas; a comma in a path is doubled. */
function pathList(paths: readonly string[]): string {
  return paths.map((path) => path.replaceAll(",", ",,")).join(",");
}

function networkFlags(network: NetworkPolicy): string[] {
  if (network === "none") return ["--deny-net"];
  if (network === "all") return ["--allow-net"];
  return [`--allow-net=${network.hosts.join(",")}`];
}

/** The arguments that start the guest runner with no more rights than it needs. */
export function denoArguments(settings: DenoArguments): string[] {
  const { bootFile, importMapFile, read, write, denyWrite, network, memoryMb } = settings;
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
    `--import-map=${importMapFile}`,
    `--allow-read=${pathList(read)}`,
    `--allow-write=${pathList(write)}`,
    ...(denyWrite.length > 0 ? [`--deny-write=${pathList(denyWrite)}`] : []),
    ...networkFlags(network),
    "--ignore-env",
    "--deny-run",
    "--deny-ffi",
    "--deny-sys",
    "--deny-import",
    `--v8-flags=--max-old-space-size=${Math.max(16, Math.floor(memoryMb))}`,
    bootFile,
  ];
}
