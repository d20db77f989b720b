import { isIPv6 } from "node:net";

/** Each group of an IPv6 address has four digits; a customer of a provider has at least the first four groups. */
const NETWORK_GROUPS = 4;

/** An address, or the network of an IPv6 address. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(?<address>[\d.]+)$/iu.exec(address)?.groups?.["address"];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [before = "", after] = address.split("%", 1)[0]?.split("::") ?? [];
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = after === undefined ? 0 : Math.max(0, 8 - head.length - tail.length);
  const groups = [...head, ...Array<string>(zeros).fill("0"), ...tail];
  return groups.slice(0, NETWORK_GROUPS).join(":");
}
