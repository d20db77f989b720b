import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { browse, MACHINE, startProtectedServer } from "../../fixtures/authorization-server.ts";
import type { ProtectedServer } from "../../fixtures/authorization-server.ts";
import { connect } from "../../fixtures/servers.ts";
import { serve } from "../../fixtures/start-http.ts";
import { temporaryFolder } from "../../fixtures/temporary-folder.ts";
import type { McpServerSettings } from "../settings/server-settings.ts";
import type { CemError } from "@cem/core";
import { storeKey } from "./sign-in-file.ts";
import { createFileTokenStore } from "./token-store.ts";

const signal = new AbortController().signal;
const openBrowser = async (url: string): Promise<void> => {
  expect((await browse(url)).status).toBe(200);
};
const refuse =
  (error: string) =>
  async (url: string): Promise<void> => {
    const { searchParams } = new URL(url);
    await fetch(`${searchParams.get("redirect_uri")}?error=${error}&state=${searchParams.get("state")}`);
  };

describe("signing in", () => {
  let server: ProtectedServer;
  let folder: string;
  const settings = (more: Partial<McpServerSettings> = {}): McpServerSettings => ({
    name: "remote",
    transport: { kind: "http", url: `${server.url}?key=query` },
    ...more,
  });
  const stored = async (): Promise<Record<string, Record<string, unknown>>> => {
    const [file = ""] = await readdir(folder);
    return JSON.parse(await readFile(join(folder, file), "utf8")) as Record<string, Record<string, unknown>>;
  };
  const call = async (connections: ReturnType<typeof connect>): Promise<unknown> =>
    (await connections.callTool("remote", "add", { a: 1, b: 2 }, { signal })).structuredContent;

  beforeAll(async () => {
    server = await startProtectedServer();
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    folder = join(await temporaryFolder(), "tokens");
    server.events.length = 0;
  });
  afterEach(() => server.answer("/token"));

  it("is asked for, never started, by a call", async () => {
    await using connections = connect([settings()], { authFolder: folder });
    await expect(call(connections)).rejects.toMatchObject({
      code: "AUTH_REQUIRED",
      message: 'Server "remote" requires authorization.',
    });
    expect(connections.status()).toMatchObject([{ state: "auth-required" }]);
    expect(server.events).toEqual([]);
    await using customers = connect([settings({ customer: "acme" })], { authFolder: folder });
    const details = { server: "remote", customer: "acme" };
    await expect(call(customers)).rejects.toMatchObject({ details });
    expect(customers.status()).toMatchObject([{ lastError: { code: "AUTH_REQUIRED", details } }]);
  });

  it("registers the client, goes through the browser and is kept for the owner only", async () => {
    await using connections = connect([settings()], { authFolder: folder });
    await connections.authorize("remote", { openBrowser });
    expect(await call(connections)).toEqual({ sum: 3 });
    expect(server.events).toEqual(["registered", "granted authorization_code"]);
    const [file = ""] = await readdir(folder);
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await stored()).toMatchObject({
      url: storeKey(`${server.url}?key=query`),
      tokens: { refresh_token: expect.any(String) as string },
    });

    await using later = connect([settings()], { authFolder: folder });
    expect(await call(later)).toEqual({ sum: 3 });
    expect(server.events).toHaveLength(2);
  });

  it("is renewed without a person, once for all who need it", async () => {
    await using connections = connect([settings()], { authFolder: folder });
    await connections.authorize("remote", { openBrowser });
    await call(connections);
    server.expire("access");
    expect(await Promise.all([call(connections), call(connections), call(connections)])).toHaveLength(3);
    expect(server.events.filter((event) => event === "granted refresh_token")).toHaveLength(1);
    expect(server.events.filter((event) => event.startsWith("refused"))).toEqual([]);
  });

  it("is asked for again when it can't be renewed", async () => {
    const fresh = await startProtectedServer();
    onTestFinished(() => fresh.close());
    await using connections = connect([{ name: "remote", transport: { kind: "http", url: fresh.url } }], {
      authFolder: folder,
    });
    await connections.authorize("remote", { openBrowser });
    await call(connections);
    fresh.expire("refresh");
    await expect(call(connections)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    expect(connections.status()).toMatchObject([{ state: "auth-required" }]);
  });

  it("asks for more when the server wants more", async () => {
    await using connections = connect([settings()], { authFolder: folder });
    await connections.authorize("remote", { openBrowser });
    await call(connections);
    server.requireScope("admin");
    try {
      await expect(call(connections)).rejects.toMatchObject({
        code: "AUTH_REQUIRED",
        message: 'Server "remote" requires authorization for the scope admin.',
      });
      let scope: string | null = null;
      await connections.authorize("remote", {
        async openBrowser(url) {
          scope = new URL(url).searchParams.get("scope");
          await openBrowser(url);
        },
      });
      expect(scope).toBe("tools admin offline_access");
      expect(await call(connections)).toEqual({ sum: 3 });
    } finally {
      server.requireScope(undefined);
    }
  });

  it("asks no longer for a scope that there is not", async () => {
    await using connections = connect([settings()], { authFolder: folder });
    const url = storeKey(`${server.url}?key=query`);
    await createFileTokenStore(folder).write({ version: 1, url, requiredScope: "gone" });
    await expect(connections.authorize("remote", { openBrowser })).rejects.toThrow("rejected (HTTP 400)");
    await connections.authorize("remote", { openBrowser });
    expect(await call(connections)).toEqual({ sum: 3 });

    await createFileTokenStore(folder).write({ version: 1, url, requiredScope: "admin" });
    const refused = connections.authorize("remote", { openBrowser: refuse("invalid_scope") });
    await expect(refused).rejects.toThrow("The sign-in was refused: invalid_scope.");
    expect(await stored()).not.toHaveProperty("requiredScope");
  });

  it.each([
    ["scope", (own: ProtectedServer) => own.requireScope("admin")],
    ["sign-in", (own: ProtectedServer) => own.expire("refresh")],
  ])("lets other calls end when one is refused for its %s", async (_, refuseFromNow) => {
    const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const own = await startProtectedServer(() => (started.resolve(), ended.promise));
    onTestFinished(() => own.close());
    await using connections = connect([{ name: "remote", transport: { kind: "http", url: own.url } }]);
    await connections.authorize("remote", { openBrowser });
    const slow = connections.callTool("remote", "sleep", { ms: 1 }, { signal });
    await started.promise;
    refuseFromNow(own);
    await expect(call(connections)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    expect(connections.status()).toMatchObject([{ state: "auth-required" }]);
    ended.resolve();
    expect(await slow).toMatchObject({ content: [{ text: "slept" }] });
    expect(connections.status()).toMatchObject([{ state: "ready" }]);
  });

  it("registers the client again that the authorization server does not know", async () => {
    await using connections = connect([settings()], { authFolder: folder });
    server.answer("/token", (_request, response) => {
      response.writeHead(401).end('{"error":"invalid_client"}');
    });
    await expect(connections.authorize("remote", { openBrowser })).rejects.toMatchObject({
      code: "AUTH_FAILED",
      message: `Signing in to server "remote" failed: ${server.issuer}/token answered invalid_client.`,
    });
    server.answer("/token");
    await connections.authorize("remote", { openBrowser });
    expect(server.events).toEqual(["registered", "registered", "granted authorization_code"]);
  });

  it("follows redirects within the server, with the configured headers, and no others", async () => {
    const seen: unknown[] = [];
    const thief = await serve((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    let target = "/mcp/";
    const own = await serve((request, response) => {
      if (request.url === "/mcp") return void response.writeHead(307, { location: target }).end();
      seen.push([request.url, request.headers["x-api-key"]]);
      return void response.writeHead(404).end();
    });
    onTestFinished(() => thief.close());
    onTestFinished(() => own.close());
    const headers = { "x-api-key": "the server's own" };
    const url = `http://127.0.0.1:${own.port}/mcp`;
    await using connections = connect([{ name: "remote", transport: { kind: "http", url, headers } }]);
    const failed = (): Promise<void> =>
      expect(connections.authorize("remote", { openBrowser })).rejects.toThrow("Signing in");
    await failed();
    expect(seen[0]).toEqual(["/mcp/", "the server's own"]);
    target = `http://localhost:${thief.port}/`;
    await failed();
    expect(seen.filter((one) => !Array.isArray(one))).toEqual([]);
  });

  it("takes no answer that is not its own", async () => {
    await using connections = connect([settings()], { authFolder: folder });
    const statuses: number[] = [];
    await connections.authorize("remote", {
      async openBrowser(url) {
        const callback = new URL(new URL(url).searchParams.get("redirect_uri") ?? "");
        for (const query of ["code=stolen", "code=stolen&state=wrong", "error=access_denied"]) {
          statuses.push((await fetch(`${callback.href}?${query}`)).status);
        }
        statuses.push((await fetch(new URL("/", callback))).status);
        await openBrowser(url);
      },
    });
    expect(statuses).toEqual([400, 400, 400, 404]);
    expect(await call(connections)).toEqual({ sum: 3 });
  });

  it("says when it was refused, and can be called off", async () => {
    await using connections = connect([settings()], { authFolder: folder });
    const denied = connections.authorize("remote", { openBrowser: refuse("access_denied") });
    await expect(denied).rejects.toMatchObject({
      code: "AUTH_FAILED",
      message: "The sign-in was refused: access_denied.",
    });
    const controller = new AbortController();
    const calledOff = connections.authorize("remote", {
      openBrowser: () => controller.abort(),
      signal: controller.signal,
    });
    await expect(calledOff).rejects.toThrow("aborted");
  });

  it("uses PKCE and names the resource", async () => {
    await using connections = connect([settings()], { authFolder: folder });
    let asked = new URLSearchParams();
    await connections.authorize("remote", {
      async openBrowser(url) {
        asked = new URL(url).searchParams;
        await openBrowser(url);
      },
    });
    expect(asked.get("code_challenge_method")).toBe("S256");
    expect(asked.get("resource")).toBe(server.url);
    expect(asked.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(asked.get("state")).toHaveLength(43);
  });

  it("needs no person for a machine with its own secret", async () => {
    const auth = {
      kind: "client-credentials",
      ...MACHINE,
      issuer: server.issuer,
      scopes: ["tools"],
    } as const;
    await using connections = connect([settings({ auth })]);
    expect(await call(connections)).toEqual({ sum: 3 });
    expect(server.events).toEqual(["granted client_credentials"]);
  });

  it("says that a machine's secret was refused, which no sign-in changes", async () => {
    const auth = { kind: "client-credentials", ...MACHINE, issuer: server.issuer } as const;
    await using connections = connect([settings({ auth: { ...auth, clientSecret: "an-old-secret" } })]);
    const why = `The client credentials of server "remote" were refused: ${server.issuer}/token answered invalid_client`;
    const refused = { code: "AUTH_FAILED", details: { server: "remote", setting: "auth" } };
    await expect(call(connections)).rejects.toMatchObject(refused);
    await expect(call(connections)).rejects.toThrow(new RegExp(`^${why}.*\\. The next attempt is in`));
  });

  it("is of no use beside a header, which is named where the server refuses it", async () => {
    const headers = { authorization: "Bearer an-old-token" };
    await using connections = connect([settings({ transport: { kind: "http", url: server.url, headers } })]);
    await expect(call(connections)).rejects.toMatchObject({
      code: "AUTH_REQUIRED",
      message: 'Server "remote" refused the token in headers.authorization.',
      details: { server: "remote", setting: "headers.authorization" },
    });
    expect(connections.status()).toMatchObject([{ state: "auth-required" }]);
    await expect(connections.authorize("remote", { openBrowser })).rejects.toMatchObject({
      code: "AUTH_FAILED",
      details: { setting: "headers.authorization" },
    });
    expect(server.events).toEqual([]);
  });

  it("says how to register a client where the authorization server does not", async () => {
    const metadata = {
      issuer: server.issuer,
      authorization_endpoint: `${server.issuer}/auth`,
      token_endpoint: `${server.issuer}/token`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
    };
    const path = "/.well-known/oauth-authorization-server";
    server.answer(path, (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(metadata));
    });
    onTestFinished(() => server.answer(path));
    await using connections = connect([settings()], { authFolder: folder });
    const failure = await connections.authorize("remote", { openBrowser }).catch((error: unknown) => error);
    const redirectUrl = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/u) as string;
    expect(failure).toMatchObject({
      code: "AUTH_FAILED",
      message: 'Signing in to server "remote" failed: it registers no clients by itself.',
      details: { server: "remote", setting: "auth.client_id", redirectUrl },
    });
    const callbackPort = Number(new URL((failure as CemError).details["redirectUrl"] as string).port);
    const auth = { kind: "authorization-code", clientId: "app", callbackPort } as const;
    await using registered = connect([settings({ auth })], { authFolder: folder });
    let opened = "";
    const keepUrl = (url: string): Promise<void> => {
      opened = url;
      return Promise.reject(new Error("no browser"));
    };
    await expect(registered.authorize("remote", { openBrowser: keepUrl })).rejects.toThrow("no browser");
    const { searchParams } = new URL(opened);
    expect(searchParams.get("client_id")).toBe("app");
    expect(searchParams.get("redirect_uri")).toBe(`http://127.0.0.1:${callbackPort}/callback`);
  });

  it.each([404, 202])("points at the headers where nothing offers one (%d)", async (status) => {
    const own = await serve((request, response) => {
      const isServer = request.url === "/mcp";
      const headers = isServer ? { "www-authenticate": "ApiKey" } : {};
      response.writeHead(isServer ? 401 : request.method === "POST" ? status : 404, headers).end();
    });
    onTestFinished(() => own.close());
    const url = `http://127.0.0.1:${own.port}/mcp`;
    await using connections = connect([{ name: "remote", transport: { kind: "http", url } }]);
    const details = { server: "remote", setting: "headers" };
    await expect(call(connections)).rejects.toMatchObject({
      code: "AUTH_REQUIRED",
      message: 'Server "remote" requires authorization, and offers no sign-in over OAuth.',
      details,
    });
    await expect(connections.authorize("remote", { openBrowser })).rejects.toMatchObject({
      code: "AUTH_FAILED",
      message: 'Signing in to server "remote" failed: it offers no sign-in over OAuth.',
      details,
    });
  });

  it("repeats no long answer", async () => {
    await using connections = connect([settings()]);
    server.answer("/reg", (_request, response) => void response.writeHead(400).end("no ".repeat(10_000)));
    onTestFinished(() => server.answer("/reg"));
    await expect(connections.authorize("remote", { openBrowser })).rejects.toThrow(/HTTP 400.{1,300}$/);
  });

  it("names the address that did not answer", async () => {
    const own = await serve((request, response) => {
      if (request.url === "/mcp") response.writeHead(401).end();
    });
    onTestFinished(() => own.close());
    const url = `http://127.0.0.1:${own.port}/mcp`;
    await using connections = connect([
      { name: "remote", transport: { kind: "http", url }, connectTimeoutMs: 200 },
    ]);
    await expect(connections.authorize("remote", { openBrowser })).rejects.toThrow(
      "/.well-known/oauth-protected-resource/mcp did not answer in time",
    );
  });

  it("gives the machine's secret to no other authorization server", async () => {
    const auth = { kind: "client-credentials", ...MACHINE, issuer: "https://other.example" } as const;
    await using connections = connect([settings({ auth })]);
    const error = await call(connections).catch((thrown: unknown) => thrown);
    expect(error).toHaveProperty("code");
    expect(String(error)).not.toContain(MACHINE.clientSecret);
    expect(server.events).toEqual([]);
  });

  it("makes no sense for a local program", async () => {
    await using connections = connect([{ name: "local", transport: { kind: "stdio", command: "x" } }]);
    await expect(connections.authorize("local", { openBrowser })).rejects.toMatchObject({
      code: "AUTH_FAILED",
    });
  });
});
