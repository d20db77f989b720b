import { describe, expect, it } from "vitest";
import { createRedact, fillVariables } from "./secret-values.ts";
import type { McpServerSettings } from "./server-settings.ts";

const variables: Record<string, string> = { TOKEN: "abc-123", EMPTY: "" };
const fill = (settings: McpServerSettings): McpServerSettings =>
  fillVariables(settings, (name) => variables[name]);

describe("fillVariables", () => {
  it("fills every text of a program's settings, and remembers what it put in", () => {
    const transport = {
      kind: "stdio" as const,
      command: "${BIN:-node}",
      args: ["--token=${TOKEN}", "$TOKEN", "${env:TOKEN}"],
      env: { KEY: "${TOKEN}", PLAIN: "x" },
      cwd: "/${DIR:-srv}",
    };
    expect(fill({ name: "a", transport })).toEqual({
      name: "a",
      transport: {
        kind: "stdio",
        command: "node",
        args: ["--token=abc-123", "$TOKEN", "abc-123"],
        env: { KEY: "abc-123", PLAIN: "x" },
        cwd: "/srv",
      },
      secrets: ["abc-123"],
    });
  });

  it("fills the URL, headers and sign-in of a remote server", () => {
    const settings: McpServerSettings = {
      name: "a",
      transport: {
        kind: "http",
        url: "https://x.example/${PATH_PART:-mcp}",
        headers: { "X-Key": "${TOKEN}" },
      },
      auth: {
        kind: "client-credentials",
        clientId: "id",
        clientSecret: "${TOKEN}",
        issuer: "https://i.example",
      },
      secrets: ["known"],
    };
    expect(fill(settings)).toMatchObject({
      transport: { url: "https://x.example/mcp", headers: { "X-Key": "abc-123" } },
      auth: { clientSecret: "abc-123" },
      secrets: ["known", "abc-123"],
    });
  });

  it("names the server whose URL is none, without the value", () => {
    const transport = { kind: "http" as const, url: "${TOKEN}/mcp" };
    expect(() => fill({ name: "a", transport })).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: expect.stringMatching(/^Server "a" needs a whole URL for url, such as https:/),
      }),
    );
  });

  it.each(["${MISSING}", "${EMPTY}"])("names the server, the variable and the setting for %s", (text) => {
    const transport = { kind: "http" as const, url: "https://x.example", headers: { Authorization: text } };
    expect(() => fill({ name: "a", transport })).toThrow(
      expect.objectContaining({
        code: "VARIABLE_MISSING",
        message: expect.stringMatching(
          /^Server "a" needs the environment variable (?:MISSING|EMPTY) for headers\.Authorization/,
        ),
      }),
    );
  });
});

it("leaves messages readable whatever the token in use", () => {
  const transport = { kind: "http" as const, url: "https://x.example" };
  const redact = createRedact({ name: "a", transport }, () => ["", "e", "a-long-token"]);
  expect(redact("Server refused a-long-token")).toBe("Server refused [redacted]");
});
