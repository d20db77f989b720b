import { describe, expect, it } from "vitest";
import { needsIpv6, networkRules, parseHost, withoutAddress } from "./network-rules.ts";

const INTERNAL = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/3",
  "[::]",
  "[::1]",
  "[fd00:ec2::254]",
];

describe("parseHost", () => {
  it.each([
    ["api.example.com", { name: "api.example.com", family: "name" }],
    ["API.Example.com:8443", { name: "api.example.com", family: "name", port: 8443 }],
    ["10.1.2.3", { name: "10.1.2.3", family: "ipv4" }],
    ["10.1.2.3:1", { name: "10.1.2.3", family: "ipv4", port: 1 }],
    ["[2001:db8::1]", { name: "2001:db8::1", family: "ipv6" }],
    ["[2001:db8::1]:65535", { name: "2001:db8::1", family: "ipv6", port: 65_535 }],
    ["host-1", { name: "host-1", family: "name" }],
  ])("reads %s", (text, host) => {
    expect(parseHost(text)).toEqual(host);
  });

  it.each([
    "http://example.com",
    "example.com/path",
    "a b",
    "",
    ":80",
    "x:0",
    "x:65536",
    "x:100000",
    "x:",
    "x:1:2",
    "[nonsense]:1",
    "[10.1.2.3]",
    "2001:db8::1",
    "[::1",
    "a,b",
    "x\n",
    "-x",
    "--allow-all",
  ])("refuses %j", (text) => {
    let thrown: unknown;
    try {
      parseHost(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code: "SANDBOX_SPEC_INVALID",
      message: `"${text}" is not a host: write api.example.com, 10.1.2.3:8080 or [2001:db8::1]:443.`,
      details: { host: text },
    });
  });
});

describe("networkRules", () => {
  it("allows what is listed and denies what is internal", () => {
    const { allow, deny } = networkRules({ hosts: ["api.example.com", "example.org:8443"] });
    expect(allow).toEqual(["api.example.com", "example.org:8443"]);
    expect(deny).toEqual(INTERNAL);
  });

  it("denies what is internal also where all is allowed", () => {
    expect(networkRules("all")).toEqual({ allow: "all", deny: INTERNAL });
  });

  it("takes an internal address out of what is denied when it is listed itself, and no other", () => {
    const { deny } = networkRules({ hosts: ["10.1.2.3:8080"] });
    expect(deny).not.toContain("10.0.0.0/8");
    expect(deny).toContain("10.128.0.0/9");
    expect(deny).toContain("10.1.2.2/32");
    expect(deny).not.toContain("10.1.2.3/32");
    expect(deny).toEqual(expect.arrayContaining(INTERNAL.filter((network) => network !== "10.0.0.0/8")));
  });

  it("allows an internal IPv6 address that is listed, however it is written", () => {
    const { deny } = networkRules({ hosts: ["[FD00:0ec2:0::254]", "[::2]"] });
    expect(deny).toEqual(INTERNAL.filter((address) => address !== "[fd00:ec2::254]"));
  });

  it("takes localhost for the loopback addresses, and no other name", () => {
    const { deny } = networkRules({ hosts: ["localhost:3000"] });
    expect(deny).toEqual(INTERNAL.filter((address) => address !== "127.0.0.0/8" && address !== "[::1]"));
    expect(networkRules({ hosts: ["localhost.example.com"] }).deny).toEqual(INTERNAL);
  });
});

describe("withoutAddress", () => {
  it("leaves every other address of the network", () => {
    expect(withoutAddress("192.0.2.0/30", "192.0.2.1")).toEqual(["192.0.2.2/31", "192.0.2.0/32"]);
    expect(withoutAddress("192.0.2.0/30", "192.0.2.2")).toEqual(["192.0.2.0/31", "192.0.2.3/32"]);
    expect(withoutAddress("192.0.2.0/30", "192.0.2.3")).toEqual(["192.0.2.0/31", "192.0.2.2/32"]);
    const size = (network: string) => 2 ** (32 - Number(network.split("/")[1]));
    const total = withoutAddress("10.0.0.0/8", "10.200.3.4").reduce((sum, network) => sum + size(network), 0);
    expect(total).toBe(2 ** 24 - 1);
  });

  it("leaves a network alone that doesn't hold the address", () => {
    for (const address of ["9.255.255.255", "11.0.0.0"]) {
      expect(withoutAddress("10.0.0.0/8", address)).toEqual(["10.0.0.0/8"]);
    }
  });

  it("leaves nothing of a network of one address", () => {
    expect(withoutAddress("10.0.0.1/32", "10.0.0.1")).toEqual([]);
  });
});

describe("needsIpv6", () => {
  it("is true for a policy that lists an IPv6 address", () => {
    expect(needsIpv6({ hosts: ["a", "[::1]:80"] })).toBe(true);
    expect(needsIpv6({ hosts: ["a", "10.0.0.1"] })).toBe(false);
    expect([needsIpv6("all"), needsIpv6("none")]).toEqual([false, false]);
  });
});
