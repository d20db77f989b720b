import { describe, expect, it } from "vitest";
import { load, problems } from "../test/config-folder.ts";

const BASE = { enabled: true, timeout: 30, metadata: {} };

async function servers(yaml: string): Promise<unknown[]> {
  return (await load(yaml)).config.mcpServers;
}

describe("mcp_servers", () => {
  it("takes a list of name, url, connection_type, enabled, timeout, metadata", async () => {
    const yaml =
      "mcp_servers:\n- name: a\n  url: http://localhost:8000\n  connection_type: sse\n  enabled: false\n  timeout: 5\n  metadata: {team: x, n: [1, null]}\n- {name: b, url: http://x}";
    expect(await servers(yaml)).toEqual([
      {
        name: "a",
        url: "http://localhost:8000",
        connectionType: "sse",
        enabled: false,
        timeout: 5,
        metadata: { team: "x", n: [1, null] },
        headers: {},
      },
      { ...BASE, name: "b", url: "http://x", connectionType: "auto", headers: {} },
    ]);
  });

  it.each(["mcp_servers", "mcpServers"])("takes a mapping from names, as %s", async (key) => {
    const yaml = `${key}:\n  fs: {command: npx, args: [-y, pkg], cwd: /tmp, type: stdio}\n  web: {url: "https://x/mcp", type: streamable-http, headers: {X-Version: 1.10}}\n`;
    const [fs, web] = (await load(yaml)).config.mcpServers;
    expect(fs).toEqual({
      ...BASE,
      name: "fs",
      connectionType: "stdio",
      command: "npx",
      args: ["-y", "pkg"],
      env: {},
      cwd: "/tmp",
    });
    expect(web).toMatchObject({ name: "web", connectionType: "http" });
    expect(web?.connectionType === "http" && web.headers["X-Version"]?.reveal()).toBe("1.10");
  });

  it("takes how to sign in, limits and the switch that other programs have", async () => {
    const yaml = `mcpServers:
  a: {command: x, disabled: true, concurrency: 2, protocol: legacy}
  b: {url: "https://b.example", auth: {kind: client-credentials, client_id: id, client_secret: s3cret, issuer: "https://i.example", scopes: [read]}}
  c: {url: "https://c.example", auth: {kind: authorization-code, callback_port: 3000}}
  d: {url: "https://d.example", auth: {client_id: app}}
  e: {url: "https://e.example", auth: {client_id: id, client_secret: s3cret, issuer: "https://i.example"}}\n`;
    const [a, b, c, d, e] = (await load(yaml)).config.mcpServers;
    expect(a).toMatchObject({ enabled: false, concurrency: 2, protocol: "legacy" });
    expect(b).toMatchObject({
      auth: { kind: "client-credentials", clientId: "id", issuer: "https://i.example", scopes: ["read"] },
    });
    expect(b?.connectionType === "auto" && b.auth?.clientSecret?.reveal()).toBe("s3cret");
    expect(c).toMatchObject({ auth: { kind: "authorization-code", callbackPort: 3000 } });
    expect(d).toMatchObject({ auth: { kind: "authorization-code", clientId: "app" } });
    expect(e).toMatchObject({ auth: { kind: "client-credentials", clientId: "id" } });
  });

  it("takes an empty variable of a command, and no empty header", async () => {
    const yaml = `mcpServers:\n  a: {command: x, env: {EMPTY: "", SPACED: " x "}}\n`;
    const [a] = (await load(yaml)).config.mcpServers;
    const env = a?.connectionType === "stdio" ? a.env : {};
    expect([env["EMPTY"]?.reveal(), env["SPACED"]?.reveal()]).toEqual(["", " x "]);
    await expect(load('mcpServers:\n  b: {url: "https://b", headers: {X: ""}}\n')).rejects.toThrow("X");
  });

  it.each(["stdio://npx -y pkg", "stdio:npx -y pkg", "  npx  -y pkg "])(
    "takes a command line as the url of a stdio server: %j",
    async (url) => {
      expect(await servers(`mcp_servers: [{name: a, url: '${url}', connection_type: stdio}]`)).toEqual([
        { ...BASE, name: "a", connectionType: "stdio", command: "npx", args: ["-y", "pkg"], env: {} },
      ]);
    },
  );

  it.each([
    ["mcp_servers: [{name: a}]", "mcp_servers[0]", "needs a url or a command."],
    [
      "mcp_servers: {a: {url: 'localhost:3000/mcp'}}",
      "mcp_servers.a.url",
      "needs its scheme, as in https://example.com/mcp.",
    ],
    ["mcp_servers: [{url: a}]", "mcp_servers[0].name", "is missing. It takes text."],
    [
      "mcp_servers: {a: {url: x, command: y}}",
      "mcp_servers.a",
      "has both command and url; give one of them.",
    ],
    [
      "mcp_servers: {a: {url: x, args: [y]}}",
      "mcp_servers.a.args",
      "belongs to a command; a url takes headers.",
    ],
    [
      "mcp_servers: {a: {command: x, headers: {A: b}}}",
      "mcp_servers.a.headers",
      "belongs to a url; a command takes env.",
    ],
    [
      "mcp_servers: {a: {command: x, type: http}}",
      "mcp_servers.a",
      "is of type http, which needs a url, not a command.",
    ],
    [
      "mcp_servers: {a: {command: x, enabled: true, disabled: true}}",
      "mcp_servers.a.disabled",
      "contradicts enabled; give one of them.",
    ],
    [
      "mcp_servers: {a: {url: x, auth: {kind: client-credentials, client_id: y}}}",
      "mcp_servers.a.auth",
      "needs client_id, client_secret and issuer for client-credentials.",
    ],
    ["mcp_servers: {a: {connection_type: stdio}}", "mcp_servers.a", "needs a command."],
    [
      "mcp_servers: [{name: a, url: 'http://x'}, {name: a, url: 'http://y'}]",
      "mcp_servers[1].name",
      'is the name of two servers: "a".',
    ],
    ['mcp_servers: {"": {url: "http://x"}}', "mcp_servers", "has a server with an empty name."],
    [
      "mcp_servers: [{name: a, url: \"npx 'x y'\", connection_type: stdio}]",
      "mcp_servers[0].url",
      "can't be split into a command line; give command and args.",
    ],
    [
      "mcp_servers: [{name: a, url: x, connection_type: ws}]",
      "mcp_servers[0].connection_type",
      'is "ws". Allowed: auto, stdio, http, streamable-http, sse.',
    ],
    [
      "mcp_servers: []\nmcpServers: {}",
      "mcpServers",
      "is the same setting as mcp_servers; give one of them.",
    ],
    ["mcp_servers: x", "mcp_servers", "is a text. Allowed: a list, or a mapping from names to values."],
  ])("refuses %s", async (yaml, path, message) => {
    expect(await problems(yaml)).toMatchObject([{ path, message }]);
  });
});
