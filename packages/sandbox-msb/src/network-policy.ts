import type { NetworkPolicy } from "@cem/core";
import { parseHost } from "@cem/sandbox/provider-kit";
import type { NetworkPolicy as SdkPolicy, Rule } from "microsandbox";
import type { Microsandbox } from "./load-sdk.ts";

/** Translates a network policy to rules of the machine's network card. Deno's permissions enforce it inside as well. */
export function toSdkPolicy(
  { Destination, PortRange, Rule: rules }: Microsandbox,
  policy: NetworkPolicy,
): SdkPolicy {
  const allowed: Rule[] = [];
  if (policy === "all") allowed.push(rules.allowEgress(Destination.group("public")));
  for (const { name, family, port } of typeof policy === "object" ? policy.hosts.map(parseHost) : []) {
    const destination =
      family === "name"
        ? Destination.domain(name)
        : Destination.cidr(`${name}/${family === "ipv4" ? 32 : 128}`);
    const ports = port === undefined ? [] : [PortRange.single(port)];
    allowed.push({ ...rules.allowEgress(destination), ports });
  }
  return { defaultEgress: "deny", defaultIngress: "deny", rules: [rules.allowDns(), ...allowed] };
}
