import { describe, expect, it } from "vitest";
import { load, problems } from "../test/config-folder.ts";

const LABEL = "a".repeat(63);

describe("guardrails.allowed_networks", () => {
  it.each([
    "localhost",
    "api.example.com",
    "api.example.com.",
    "API-1.example.com:443",
    "_service.example.com",
    "10.1.2.3",
    "10.1.2.3:8080",
    "a.example:1",
    "a.example:65535",
    "::1",
    "2001:db8::1",
    "[::1]",
    "[2001:db8::1]:8080",
    `${LABEL}.example`,
    "a".repeat(2),
    "x",
  ])("takes %s", async (network) => {
    const { config } = await load(`guardrails: {allowed_networks: ['${network}']}`);
    expect(config.guardrails.allowedNetworks).toEqual([network]);
  });

  it.each([
    "",
    "a,b",
    "a b",
    "a/b",
    "https://a.example",
    "*.example.com",
    "a..example",
    ".example.com",
    "-a.example",
    "a-.example",
    "a.-b",
    "a.b-",
    "1.2.3",
    "1.2.3.4.5",
    "10.0.0.300",
    "example.1",
    "example.1.",
    "a.example:0",
    "a.example:65536",
    "a.example:123456",
    "a.example:",
    "a.example:http",
    "[::1",
    "::1]",
    "[a.example]",
    "[10.1.2.3]:80",
    `${LABEL}a.example`,
    `${`${LABEL}.`.repeat(3)}${LABEL}`,
  ])("refuses %j", async (network) => {
    expect(await problems(`guardrails: {allowed_networks: ['${network}']}`)).toMatchObject([
      { message: "is not a host or host:port, such as api.example.com or 10.1.2.3:8080." },
    ]);
  });
});
