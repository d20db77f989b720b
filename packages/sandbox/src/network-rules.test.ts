import { describe, expect, it } from "vitest";
import { networkRules, withoutAddress } from "./network-rules.ts";

describe("networkRules", () => {
  it("allows what is listed and denies what is internal", () => {
    const { allow, deny } = networkRules({ hosts: ["api.example.com", "example.org:8443"] });
    expect(allow).toEqual(["api.example.com", "example.org:8443"]);
    expect(deny).toEqual(expect.arrayContaining(["127.0.0.0/8", "169.254.0.0/16", "10.0.0.0/8", "[::1]"]));
  });

  it("denies what is internal also where all is allowed", () => {
    const { allow, deny } = networkRules("all");
    expect(allow).toBe("all");
    expect(deny).toContain("169.254.0.0/16");
  });

  it("takes an internal address out of what is denied when it is listed itself, and no other", () => {
    const { deny } = networkRules({ hosts: ["10.1.2.3:8080"] });
    expect(deny).not.toContain("10.0.0.0/8");
    expect(deny).toContain("10.128.0.0/9");
    expect(deny).toContain("10.1.2.2/32");
    expect(deny).not.toContain("10.1.2.3/32");
    expect(deny).toContain("127.0.0.0/8");
  });

  it("takes localhost for the loopback addresses", () => {
    const { deny } = networkRules({ hosts: ["localhost:3000"] });
    expect(deny).not.toContain("127.0.0.0/8");
    expect(deny).not.toContain("[::1]");
    expect(deny).toContain("10.0.0.0/8");
  });

  it.each([
    "http://example.com",
    "example.com/path",
    "a b",
    "",
    "x:0",
    "x:70000",
    "[nonsense]:1",
    "a,b",
    "--allow-all",
  ])("refuses %j, which is not a host", (host) => {
    expect(() => networkRules({ hosts: [host] })).toThrowError(/is not a host/);
  });
});

describe("withoutAddress", () => {
  it("leaves every other address of the network", () => {
    expect(withoutAddress("192.0.2.0/30", "192.0.2.1")).toEqual(["192.0.2.2/31", "192.0.2.0/32"]);
    expect(withoutAddress("10.0.0.0/8", "11.0.0.1")).toEqual(["10.0.0.0/8"]);
    const size = (network: string) => 2 ** (32 - Number(network.split("/")[1]));
    const total = withoutAddress("10.0.0.0/8", "10.200.3.4").reduce((sum, network) => sum + size(network), 0);
    expect(total).toBe(2 ** 24 - 1);
  });
});
