import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { browse, startProtectedServer } from "../../fixtures/authorization-server.ts";
import type { ProtectedServer } from "../../fixtures/authorization-server.ts";
import { connect } from "../../fixtures/servers.ts";
import { temporaryFolder } from "../../fixtures/temporary-folder.ts";
import type { McpServerSettings } from "../settings/server-settings.ts";
import { createSignIn } from "./sign-in.ts";
import { createFileTokenStore, createMemoryTokenStore } from "./token-store.ts";
import type { TokenStore } from "./token-store.ts";

const signal = new AbortController().signal;
const openBrowser = async (url: string): Promise<void> => void (await browse(url));

describe("a sign-in whose access token expired", () => {
  const warn = vi.spyOn(console, "warn");
  let server: ProtectedServer;
  let folder: string;
  const settings = (): McpServerSettings => ({
    name: "remote",
    transport: { kind: "http", url: server.url },
  });
  const signInWith = (store: TokenStore) =>
    createSignIn({
      server: "remote",
      url: server.url,
      settings: { kind: "authorization-code" },
      clientName: "test",
      store,
      timeoutMs: 200,
    });
  const stored = async (): Promise<unknown> => {
    const [file = ""] = await readdir(folder);
    return JSON.parse(await readFile(join(folder, file), "utf8"));
  };
  const call = async (connections: ReturnType<typeof connect>): Promise<unknown> =>
    (await connections.callTool("remote", "add", { a: 1, b: 2 }, { signal })).structuredContent;
  /** Connections that are signed in and have an access token that expired. */
  const expired = async (): Promise<ReturnType<typeof connect>> => {
    const connections = connect([settings()], { authFolder: folder });
    onTestFinished(() => connections.close());
    await connections.authorize("remote", { openBrowser });
    await call(connections);
    server.expire("access");
    server.events.length = 0;
    return connections;
  };

  beforeAll(async () => {
    server = await startProtectedServer();
  });
  afterAll(async () => {
    warn.mockRestore();
    await server.close();
  });
  beforeEach(async () => {
    warn.mockClear();
    folder = join(await temporaryFolder(), "tokens");
  });
  afterEach(() => server.answer("/token"));

  it("is renewed by one process for all", async () => {
    const one = await expired();
    await using two = connect([settings()], { authFolder: folder });
    expect(await Promise.all([call(one), call(two)])).toEqual([{ sum: 3 }, { sum: 3 }]);
    expect(server.events).toEqual(["granted refresh_token"]);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it("is not lost with a refresh token that somebody else has exchanged", async () => {
    const connections = await expired();
    const store = createFileTokenStore(folder);
    const record = await store.read(server.url);
    const tokens = { access_token: "theirs", refresh_token: "theirs too", token_type: "Bearer" };
    server.answer("/token", async (_request, response) => {
      await store.write({ version: 1, url: server.url, ...record, tokens });
      response.writeHead(400).end('{"error":"invalid_grant"}');
    });
    await expect(call(connections)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    expect(await stored()).toMatchObject({ tokens });
  });

  it.each([
    ["an error page", 503, "<h1>Down</h1>", "with HTTP status 503"],
    ["an error of its own", 400, '{"error":"temporarily_unavailable"}', "temporarily_unavailable"],
    ["a limit", 429, '{"error":"too_many_requests"}', "too_many_requests"],
    ["no token", 200, "{}", "without a token"],
    ["an empty token", 200, '{"access_token":"","token_type":"Bearer"}', "without a token"],
  ])("outlasts an authorization server that answers %s", async (_, status, answer, said) => {
    const connections = await expired();
    server.answer("/token", (_request, response) => void response.writeHead(status).end(answer));
    await expect(call(connections)).rejects.toMatchObject({
      code: "SERVER_DOWN",
      message: `The sign-in to server "remote" can't be renewed now: ${server.issuer}/token answered ${said}.`,
    });
    server.answer("/token");
    expect(await call(connections)).toEqual({ sum: 3 });
    expect(warn).not.toHaveBeenCalled();
  });

  it("waits for no answer of the authorization server for ever", async () => {
    await expired();
    const signIn = signInWith(createFileTokenStore(folder));
    const token = await signIn.token();
    const renew = async (): Promise<void> =>
      signIn.onUnauthorized?.({
        response: new Response(null, { status: 401 }),
        serverUrl: new URL(server.url),
        fetchFn: fetch,
      });
    server.answer("/token", () => {});
    await expect(renew()).rejects.toMatchObject({
      code: "SERVER_DOWN",
      message: expect.stringContaining("did not answer in time") as string,
    });
    server.answer("/token");
    await renew();
    expect(await signIn.token()).not.toBe(token);

    await using connections = connect([settings()], { authFolder: folder });
    const controller = new AbortController();
    server.answer("/token", () => controller.abort());
    const calledOff = connections.authorize("remote", { openBrowser, signal: controller.signal });
    await expect(calledOff).rejects.toThrow("aborted");
  });

  it("keeps so much only of a server that requires another scope each time", async () => {
    const store = createMemoryTokenStore();
    const signIn = signInWith(store);
    for (let index = 0; index < 1_000; index += 1) await signIn.requireScope(`scope-${index}`);
    const { requiredScope = "" } = (await store.read(server.url)) ?? {};
    expect(requiredScope).toMatch(/^scope-0 scope-1 /);
    expect(requiredScope.length).toBeLessThanOrEqual(4_000);
  });

  it("finds an authorization server that moved its endpoints", async () => {
    const connections = await expired();
    await call(connections);
    const metadata = "/.well-known/oauth-authorization-server";
    const old = (await (await fetch(server.issuer + metadata)).json()) as object;
    server.answer("/token", (_request, response) => void response.writeHead(404).end());
    server.answer(metadata, (_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...old, token_endpoint: `${server.issuer}/new` }));
    });
    server.answer("/new", (_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ access_token: "new", token_type: "Bearer" }));
    });
    onTestFinished(() => server.answer(metadata));
    server.expire("access");
    await expect(call(connections)).rejects.toMatchObject({ code: "SERVER_DOWN" });
    await expect(call(connections)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    expect(await stored()).toMatchObject({ tokens: { access_token: "new" } });
  });

  it("tells nobody what the authorization server was sent", async () => {
    const connections = await expired();
    const secrets: string[] = [];
    type Answer = (sent: string) => string;
    const plainly: Answer = (sent) => sent;
    const asError: Answer = (sent) => JSON.stringify({ error: "invalid_request", error_description: sent });
    let answer = plainly;
    server.answer("/token", async (request, response) => {
      const sent = await text(request);
      for (const name of ["refresh_token", "code", "code_verifier"]) {
        const secret = new URLSearchParams(sent).get(name);
        if (secret !== null) secrets.push(secret, encodeURIComponent(secret));
      }
      response.writeHead(400).end(answer(sent));
    });
    const told: unknown[] = [];
    for (answer of [plainly, asError]) {
      told.push(await call(connections).catch(String));
      told.push(await connections.authorize("remote", { openBrowser }).catch(String));
    }
    expect(told[0]).toContain(
      `requires authorization: ${server.issuer}/token answered with HTTP status 400.`,
    );
    expect(told[3]).toContain("answered invalid_request: grant_type=authorization_code&code=[redacted]&");
    expect(secrets.length).toBeGreaterThan(8);
    const all = JSON.stringify([told, connections.logged]);
    expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
    expect(warn).not.toHaveBeenCalled();
  });
});
