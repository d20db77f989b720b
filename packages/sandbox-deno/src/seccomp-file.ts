import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NetworkPolicy } from "@cem/core";
import { needsIpv6 } from "@cem/sandbox/provider-kit";
import { buildSeccompFilter, SOCKET_FAMILIES, type SocketFamily } from "./seccomp.ts";

/**
 * Returns the file with the seccomp filter for this machine and policy, written on first use. An allowed network is
 * IPv4 only unless an IPv6 address is listed, since Deno can't deny ranges of IPv6.
 */
export function seccompFilterFile(privateDir: string, network: NetworkPolicy): string {
  const file = join(privateDir, "seccomp.bpf");
  if (existsSync(file)) return file;
  const families: SocketFamily[] = [];
  if (network !== "none") families.push(SOCKET_FAMILIES.ipv4);
  if (needsIpv6(network)) families.push(SOCKET_FAMILIES.ipv6);
  writeFileSync(file, buildSeccompFilter(process.arch === "arm64" ? "arm64" : "x64", { families }));
  return file;
}
