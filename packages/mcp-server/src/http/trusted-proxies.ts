import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP, isIPv6 } from "node:net";
import { CemError } from "@cem/core";
import { expandIPv6 } from "hono/utils/ipaddr";

/** Addresses and ranges of proxies, whose headers about a request's client are trusted. */
export class TrustedProxies {
  readonly #addresses = new BlockList();

  /**
   * @param ranges - IP addresses, and ranges such as `10.0.0.0/8` and `fd00::/8`.
   * @throws CemError `OPTION_INVALID`
   */
  constructor(ranges: readonly string[]) {
    for (const range of ranges) {
      const [address = "", bits, ...more] = range.split("/");
      const version = isIP(address);
      const most = version === 6 ? 128 : 32;
      const isPrefix = bits === undefined || (/^\d{1,3}$/u.test(bits) && Number(bits) <= most);
      if (version === 0 || more.length > 0 || !isPrefix) {
        const message = `${JSON.stringify(range)} is neither an IP address nor a range such as 10.0.0.0/8.`;
        throw new CemError("OPTION_INVALID", message, {
          details: { option: "trustedProxies", given: range },
        });
      }
      this.#addresses.addSubnet(address, Number(bits ?? most), version === 6 ? "ipv6" : "ipv4");
    }
  }

  has(address: string): boolean {
    const plain = withoutMapping(address);
    const version = isIP(plain);
    return version !== 0 && this.#addresses.check(plain, version === 6 ? "ipv6" : "ipv4");
  }

  /** The client address: the peer's, or the last forwarded one that is no proxy. What the client put there is ignored. */
  clientOf(peer: string, headers: IncomingHttpHeaders): string {
    if (!this.has(peer)) return peer;
    const listed = listOf(headers["x-forwarded-for"]).map(addressIn);
    const forwarded = listOf(headers.forwarded).map((element) => addressIn(forOf(element)));
    const [one, other] = [listed, forwarded].map((hops) => this.#lastBefore(peer, hops));
    if (forwarded.length === 0) return one ?? peer;
    if (listed.length === 0) return other ?? peer;
    // The proxy wrote only one of the two headers, and it is unknown which.
    return one === other ? (one ?? peer) : peer;
  }

  #lastBefore(peer: string, hops: readonly (string | undefined)[]): string {
    let last = peer;
    for (const hop of hops.toReversed()) {
      if (hop === undefined) return last;
      last = hop;
      if (!this.has(hop)) return last;
    }
    return last;
  }
}

function listOf(header: string | readonly string[] | undefined): string[] {
  if (header === undefined) return [];
  return (typeof header === "string" ? header : header.join(",")).split(",");
}

/** The `for` of an element of a Forwarded header (RFC 7239). */
function forOf(element: string): string {
  const pair = element.split(";").find((one) => /^\s*for\s*=/iu.test(one)) ?? "";
  return pair.slice(pair.indexOf("=") + 1).replaceAll('"', "");
}

/** Parses an address with an optional port. `undefined` for other values, such as `unknown`. */
function addressIn(text: string): string | undefined {
  const trimmed = text.trim();
  const bracketed = /^\[(?<address>[^\]]+)\](?::\d+)?$/u.exec(trimmed)?.groups?.["address"];
  const withPort = /^(?<address>[\d.]+):\d+$/u.exec(trimmed)?.groups?.["address"];
  const address = withoutMapping(bracketed ?? withPort ?? trimmed);
  return isIP(address) === 0 ? undefined : address;
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function withoutMapping(address: string): string {
  return /^::ffff:(?<address>[\d.]+)$/iu.exec(address)?.groups?.["address"] ?? address;
}

/** A subscriber usually controls a /64 network: the first four groups of an IPv6 address. */
const NETWORK_GROUPS = 4;

/** An address, or the network of an IPv6 address. */
export function networkOf(address: string): string {
  const [plain = ""] = withoutMapping(address).split("%", 1);
  return isIPv6(plain) ? expandIPv6(plain).split(":").slice(0, NETWORK_GROUPS).join(":") : plain;
}

/**
 * Limits a resource per network: connections, or requests in progress.
 *
 * @param limit - The maximum per network.
 * @returns A function that acquires one and returns its release function, or `undefined` if the network is at its limit.
 */
export function sharePerNetwork(limit: number): (address: string) => (() => void) | undefined {
  const counts = new Map<string, number>();
  return (address) => {
    const network = networkOf(address);
    const count = counts.get(network) ?? 0;
    if (count >= limit) return undefined;
    counts.set(network, count + 1);
    return () => {
      const left = (counts.get(network) ?? 1) - 1;
      if (left > 0) counts.set(network, left);
      else counts.delete(network);
    };
  };
}
