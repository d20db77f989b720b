import { describe, expect, it } from "vitest";
import { parseServerSettings } from "./parse-settings.ts";

const environment = { TOKEN: "abc-123", EMPTY: "" };
const parse = (raw: unknown): ReturnType<typeof parseServerSettings> =>
  parseServerSettings(raw, { environment, source: "config.yaml: mcp_servers" });

describe("parseServerSettings", () => {
  it("reads the list form", () => {
    expect(
      parse([
        { name: "a", url: "https://a.example/sse", connection_type: "sse", enabled: false, timeout: 5 },
        {
          name: "b",
          url: "npx -y '@scope/server' \"/my files\"",
          connection_type: "stdio",
          metadata: { team: "x" },
        },
        { name: "c", url: "https://c.example/mcp" },
      ]),
    ).toEqual([
      {
        name: "a",
        transport: { kind: "sse", url: "https://a.example/sse" },
        enabled: false,
        timeoutMs: 5_000,
        connectTimeoutMs: 5_000,
      },
      {
        name: "b",
        transport: { kind: "stdio", command: "npx", args: ["-y", "@scope/server", "/my files"] },
        enabled: true,
        metadata: { team: "x" },
      },
      { name: "c", transport: { kind: "http", url: "https://c.example/mcp" }, enabled: true },
    ]);
  });

  it("reads the map form, bare or in mcpServers or servers", () => {
    const map = {
      files: { command: "npx", args: ["-y", "server", "."], env: { A: "1" }, cwd: "/tmp" },
      remote: { type: "http", url: "https://x.example/mcp", headers: { "X-Key": "k" }, alwaysAllow: ["a"] },
      off: { command: "node", disabled: true },
    };
    const settings = parse(map);
    expect(settings).toEqual([
      {
        name: "files",
        transport: {
          kind: "stdio",
          command: "npx",
          args: ["-y", "server", "."],
          env: { A: "1" },
          cwd: "/tmp",
        },
        enabled: true,
      },
      {
        name: "remote",
        transport: { kind: "http", url: "https://x.example/mcp", headers: { "X-Key": "k" } },
        enabled: true,
      },
      { name: "off", transport: { kind: "stdio", command: "node", args: [] }, enabled: false },
    ]);
    expect(parse({ mcpServers: map })).toEqual(settings);
    expect(parse({ servers: map, inputs: [] })).toEqual(settings);
    expect(parse({ servers: { command: "node" } })).toMatchObject([{ name: "servers" }]);
  });

  it("gives nothing for nothing", () => {
    expect(parse(undefined)).toEqual([]);
    expect(parse(null)).toEqual([]);
    expect(parse([])).toEqual([]);
    expect(parse({})).toEqual([]);
  });

  it("fills variables and remembers their values as secrets", () => {
    expect(
      parse({
        a: {
          url: "https://x.example/${TOKEN}",
          headers: { Authorization: "Bearer ${TOKEN}", "X-B": "${NOT_SET:-none}${EMPTY:-x}" },
        },
        b: { command: "run", args: ["--key=${env:TOKEN}", "$TOKEN", "${not-a-name}"] },
      }),
    ).toEqual([
      {
        name: "a",
        transport: {
          kind: "http",
          url: "https://x.example/abc-123",
          headers: { Authorization: "Bearer abc-123", "X-B": "nonex" },
        },
        enabled: true,
        secrets: ["abc-123"],
      },
      {
        name: "b",
        transport: { kind: "stdio", command: "run", args: ["--key=abc-123", "$TOKEN", "${not-a-name}"] },
        enabled: true,
        secrets: ["abc-123"],
      },
    ]);
  });

  it("names a variable that is not set, and the place", () => {
    expect(() => parse({ a: { command: "x", env: { KEY: "${TOKEN}-${NOT_SET}" } } })).toThrow(
      "config.yaml: mcp_servers.a.env.KEY needs the environment variable NOT_SET, which is not set. " +
        "Set it, or write ${NOT_SET:-default}.",
    );
  });

  it("needs no variable of a server that is switched off", () => {
    expect(parse({ a: { command: "x", args: ["${NOT_SET}"], disabled: true } })).toMatchObject([
      { enabled: false },
    ]);
  });

  it.each([
    ["text", "config.yaml: mcp_servers: must be a list or a map of servers."],
    [[{ url: "https://x.example" }], "config.yaml: mcp_servers[0].name: "],
    [[{ name: "a", url: "https://x.example", conection_type: "sse" }], 'Unrecognized key: "conection_type"'],
    [
      [{ name: "a", url: "https://x.example", connection_type: "ftp" }],
      "config.yaml: mcp_servers[0].connection_type",
    ],
    [[{ name: "a" }], "config.yaml: mcp_servers[0]: needs either `command`"],
    [{ a: {} }, "config.yaml: mcp_servers.a: needs either `command`"],
    [{ a: { url: "file:///etc/passwd" } }, "config.yaml: mcp_servers.a.url: must be an http or https URL"],
    [{ a: { command: "x", args: "y" } }, "config.yaml: mcp_servers.a.args: "],
    [[{ name: "a", url: " ", connection_type: "stdio" }], "names no command to start"],
    [
      [
        { name: "a", url: "https://x.example" },
        { name: "a", url: "https://y.example" },
      ],
      'has two servers named "a"',
    ],
  ])("refuses %j", (raw, message) => {
    expect(() => parse(raw)).toThrow(message);
  });

  it("never shows a value in an error", () => {
    const secret = "s3cret-value";
    for (const raw of [
      { a: { url: secret } },
      { a: { command: secret, args: secret } },
      [{ name: "a", url: "https://x.example", headers: secret }],
    ]) {
      let message = "";
      try {
        parse(raw);
      } catch (error) {
        message = String(error);
      }
      expect(message).not.toBe("");
      expect(message).not.toContain(secret);
    }
  });
});
