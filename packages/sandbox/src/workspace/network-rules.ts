import { BlockList, isIPv4, isIPv6 } from "node:net";
import { CemError, INTERNAL_IPV4, type NetworkPolicy } from "@cem/core";

/** Deno can't deny ranges of IPv6, so only single addresses are listed. */
const INTERNAL_IPV6 = ["[::]", "[::1]", "[fd00:ec2::254]"] as const;
const IPV4_BITS = 32;
const HOST = /^(?:\[([0-9a-fA-F:.]+)\]|((?!-)[A-Za-z0-9.-]+))(?::(\d{1,5}))?$/;

export interface AllowedHost {
  name: string;
  family: "ipv4" | "ipv6" | "name";
  /** Absent: any port. */
  port?: number | undefined;
}

/**
 * Parses one host of a network policy.
 *
 * @param text - `api.example.com`, `10.1.2.3:8080` or `[2001:db8::1]:443`.
 * @throws CemError `SANDBOX_SPEC_INVALID` when it is none of these.
 */
export function parseHost(text: string): AllowedHost {
  const match = HOST.exec(text);
  const [, ipv6, name = "", givenPort] = match ?? [];
  const port = givenPort ?? "1";
  const valid =
    match !== null && (ipv6 === undefined || isIPv6(ipv6)) && Number(port) >= 1 && Number(port) <= 65_535;
  if (!valid) {
    throw new CemError(
      "SANDBOX_SPEC_INVALID",
      `"${text}" is not a host: write api.example.com, 10.1.2.3:8080 or [2001:db8::1]:443.`,
      { details: { host: text } },
    );
  }
  const allowedPort = givenPort === undefined ? undefined : Number(givenPort);
  if (ipv6 !== undefined) return { name: ipv6, family: "ipv6", port: allowedPort };
  return { name: name.toLowerCase(), family: isIPv4(name) ? "ipv4" : "name", port: allowedPort };
}

function toNumber(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function toAddress(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}

/** Splits a network into the networks that cover all of it but one address. */
export function withoutAddress(network: string, address: string): string[] {
  const [base = "", bits = ""] = network.split("/");
  const wanted = toNumber(address);
  let start = toNumber(base);
  let size = 2 ** (IPV4_BITS - Number(bits));
  if (wanted < start || wanted >= start + size) return [network];
  const rest: string[] = [];
  for (let prefix = Number(bits) + 1; prefix <= IPV4_BITS; prefix += 1) {
    size /= 2;
    const upper = start + size;
    const inUpper = wanted >= upper;
    rest.push(`${toAddress(inUpper ? start : upper)}/${prefix}`);
    if (inUpper) start = upper;
  }
  return rest;
}

/**
 * Translates a network policy to Deno's network permission. Internal addresses are denied under any name, unless they
 * are listed themselves; `localhost` lists the loopback addresses.
 *
 * @throws CemError `SANDBOX_SPEC_INVALID` when an entry is not a host.
 */
export function networkRules(policy: Exclude<NetworkPolicy, "none">) {
  const hosts = policy === "all" ? [] : policy.hosts.map(parseHost);
  const loopback = hosts.some(({ name }) => name === "localhost");
  let ipv4: string[] = INTERNAL_IPV4.filter((network) => !(loopback && network.startsWith("127.")));
  for (const { name, family } of hosts) {
    if (family === "ipv4") ipv4 = ipv4.flatMap((network) => withoutAddress(network, name));
  }
  const listed = new BlockList();
  for (const { name, family } of hosts) if (family === "ipv6") listed.addAddress(name, "ipv6");
  if (loopback) listed.addAddress("::1", "ipv6");
  const ipv6 = INTERNAL_IPV6.filter((address) => !listed.check(address.slice(1, -1), "ipv6"));
  return { allow: policy === "all" ? ("all" as const) : policy.hosts, deny: [...ipv4, ...ipv6] };
}

/** Whether a policy lists an IPv6 address, so that the guest needs IPv6 sockets. */
export function needsIpv6(policy: NetworkPolicy): boolean {
  return typeof policy === "object" && policy.hosts.some((host) => host.startsWith("["));
}
