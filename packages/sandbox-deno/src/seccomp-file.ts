import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSeccompFilter } from "./seccomp.ts";

/** The file that holds the filter for this machine, made when it isn't there yet. */
export function seccompFilterFile(privateDir: string, network: boolean): string {
  const file = join(privateDir, network ? "seccomp-network.bpf" : "seccomp.bpf");
  if (!existsSync(file)) {
    writeFileSync(file, buildSeccompFilter(process.arch === "arm64" ? "arm64" : "x64", { network }));
  }
  return file;
}
