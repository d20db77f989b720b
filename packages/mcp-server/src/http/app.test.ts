import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { CemError } from "@cem/core";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createLogger } from "../index.ts";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { ask, at, INITIALIZE, post, servesInTests } from "../../fixtures/serve.ts";

const { agent } = createLocalAgent();
const serve = servesInTests(agent);
const TOKEN = "a-long-enough-token-0123456789";
const authorization = `Bearer ${TOKEN}`;

afterAll(() => agent.dispose());

describe("a request", () => {
  describe("of a client that is not allowed", () => {
    it.each([
      ["host", "evil.example", "Invalid Host: evil.example"],
      ["host", "not a host", "Invalid Host header: not a host"],
      ["host", "evil@127.0.0.1", "Invalid Host header: evil@127.0.0.1"],
      ["host", "a:b@localhost:80", "Invalid Host header: a:b@localhost:80"],
      ["host", "127.0.0.1/..", "Invalid Host header: 127.0.0.1/.."],
      ["host", "localhost#", "Invalid Host header: localhost#"],
      ["host", "localhost:99999", "Invalid Host header: localhost:99999"],
      ["origin", "https://evil.example", "Invalid Origin: evil.example"],
      ["origin", "null", "Invalid Origin header: null"],
    ])("is refused by its %s %j everywhere", async (header, value, words) => {
      const { url } = await serve();
      for (const target of [url, at(url, "/metrics"), at(url, "/.well-known/oauth-protected-resource")]) {
        const { status, body, headers } = await post(target, INITIALIZE, { [header]: value });
        expect([status, headers["content-type"]]).toEqual([403, "application/json"]);
        expect(JSON.parse(body)).toEqual({
          jsonrpc: "2.0",
          error: { code: -32_000, message: `${words}. It is not among those that this server accepts.` },
          id: null,
        });
      }
    });

    it("is refused before its token is looked at", async () => {
      const { url } = await serve({ auth: { token: TOKEN } });
      expect((await post(url, INITIALIZE, { host: "evil.example" })).status).toBe(403);
    });
  });

  it("of a browser for `/` is led to the page, without a token, and that of a client is not", async () => {
    const mount = { path: "/page/*", checks: "host", fetch: async () => new Response("page") } as const;
    const { url, page } = await serve({ auth: { token: TOKEN }, mounts: [{ ...mount, landing: "./page/" }] });
    expect(page).toBe(at(url, "/page/"));
    const led = await ask(at(url, "/"), { headers: { accept: "text/html,*/*;q=0.8" } });
    expect([led.status, led.headers.location]).toEqual([302, "./page/"]);
    expect((await ask(at(url, "/"), { headers: { accept: "application/json" } })).status).toBe(401);
    const plain = await serve({ mounts: [mount] });
    expect(plain.page).toBeUndefined();
    expect((await ask(at(plain.url, "/"), { headers: { accept: "text/html" } })).status).toBe(404);
  });

  it("of an allowed host or page is served", async () => {
    const { url } = await serve({
      allowedHosts: ["mcp.example"],
      allowedOrigins: ["app.example", "fd00::2"],
    });
    for (const origin of ["https://app.example", "https://[fd00::2]:8443", "http://localhost:5173"]) {
      const headers = { host: "mcp.example:8080", origin };
      expect((await post(url, INITIALIZE, headers)).status).toBe(200);
    }
    for (const host of ["localhost", "127.0.0.1:1", "[::1]"]) {
      expect((await post(url, INITIALIZE, { host })).status).toBe(200);
    }
  });

  it("by the public URL is served, also to its own pages", async () => {
    const { url } = await serve({ publicUrl: "https://tools.example" });
    expect(url).toBe("https://tools.example/mcp");
  });

  describe("of a web page", () => {
    it("may be sent and its answer read where the page is allowed", async () => {
      const { url } = await serve({ allowedOrigins: ["app.example"], auth: { token: TOKEN } });
      const preflight = (origin: string) => ask(url, { method: "OPTIONS", headers: { origin } });
      expect(await preflight("https://app.example")).toMatchObject({
        status: 204,
        body: "",
        headers: {
          vary: "origin",
          "access-control-allow-origin": "https://app.example",
          "access-control-allow-methods": "GET, POST, DELETE",
          "access-control-allow-headers": expect.stringContaining("authorization, content-type"),
        },
      });
      const { status, headers } = await post(url, INITIALIZE, {
        origin: "https://app.example",
        authorization,
      });
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        "access-control-allow-origin": "https://app.example",
        "access-control-expose-headers": "mcp-session-id, www-authenticate, x-request-id",
      });
    });

    it("may not be read where the page is on this machine and was not named", async () => {
      const { url } = await serve({ auth: { token: TOKEN } });
      const { status, headers } = await ask(url, {
        method: "OPTIONS",
        headers: { origin: "http://localhost:5173" },
      });
      expect(status).toBe(401);
      expect(headers).not.toHaveProperty("access-control-allow-origin");
      expect((await ask(url, { method: "OPTIONS" })).status).toBe(401);
    });
  });

  it("of an orchestrator is answered under any name and without a token", async () => {
    const { url } = await serve({ auth: { token: TOKEN } });
    const headers = { host: "10.2.3.4:3000" };
    expect(await ask(at(url, "/healthz"), { headers })).toMatchObject({ status: 200, body: "ok\n" });
    await expect
      .poll(() => ask(at(url, "/readyz"), { headers }))
      .toMatchObject({ status: 200, body: "ready\n" });
    for (const route of ["/metrics", "/nothing", "/healthz/more", "/mcp/more"]) {
      expect((await ask(at(url, route))).status).toBe(401);
    }
    expect((await ask(at(url, "/metrics"), { headers: { authorization } })).status).toBe(200);
    expect((await ask(at(url, "/nothing"), { headers: { authorization } })).status).toBe(404);
    // Prometheus finds pods by their addresses. Without a token a page of a rebound name could read them.
    expect((await ask(at(url, "/metrics"), { headers: { ...headers, authorization } })).status).toBe(200);
    expect((await ask(at(url, "/metrics"), { headers })).status).toBe(401);
    const open = await serve();
    expect((await ask(at(open.url, "/metrics"), { headers })).status).toBe(403);
  });

  it("has an id of its own", async () => {
    const { url } = await serve();
    const ids = await Promise.all([1, 2].map(async () => (await ask(url)).headers["x-request-id"]));
    expect(ids).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), expect.stringMatching(/^[\da-f-]{36}$/)]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it("has no OAuth metadata where there is no issuer", async () => {
    const { url } = await serve({ auth: { token: TOKEN } });
    expect(await ask(at(url, "/.well-known/oauth-protected-resource"))).toMatchObject({
      status: 404,
      body: "This server has no OAuth issuer.\n",
    });
  });
});

describe("the readiness", () => {
  it("is not given where code can't run, with the reason", async () => {
    const failing = createLocalAgent();
    await failing.agent.dispose();
    const { url } = await serve({}, { agent: failing.agent });
    const { status, body } = await ask(at(url, "/readyz"));
    expect([status, body]).toEqual([503, expect.stringContaining("disposed")]);
  });

  it("names no address of what the server uses, which its log does, once", async () => {
    const failure = new CemError(
      "STORE_UNAVAILABLE",
      "The store at redis://10.0.0.7:6379/0 can't be used: gone.",
    );
    const folder = mkdtempSync(path.join(os.tmpdir(), "cem-ready-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, "server.log");
    const probe = (): Promise<never> => Promise.reject(failure);
    const { url, server } = await serve({ logger: createLogger({ file }) }, { probe });
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await ask(at(url, "/readyz"));
      expect([status, body]).toEqual([503, expect.stringContaining("Try again")]);
      expect(body).not.toContain("10.0.0.7");
    }
    const lines = (): string[] => readFileSync(file, "utf8").split("\n");
    const named = (): string[] => lines().filter((line) => line.includes("10.0.0.7"));
    await expect.poll(named).toHaveLength(1);
    // A run's client reads no more, and is sent to the log for it.
    const { signal } = new AbortController();
    await expect(server.runs.start({ kind: "code", owner: "", begin: probe, signal })).rejects.toBe(failure);
    await expect.poll(() => named().at(-1)).toMatch(/"code":"STORE_UNAVAILABLE".*"msg":"run"/);
  });

  it("is logged without the customer that its path names", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "cem-app-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, "log");
    const { url } = await serve({ logger: createLogger({ file }) });
    await ask(at(url, "/api/v1/customers/ada-lovelace?x=1"), { method: "DELETE" });
    await expect.poll(() => readFileSync(file, "utf8")).toContain('"path":"/api/v1/customers/…"');
    expect(readFileSync(file, "utf8")).not.toContain("lovelace");
  });

  it("says nothing of a probe that the end of the server overtook", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "cem-ready-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, "server.log");
    const { agent: ending } = createLocalAgent();
    const logger = createLogger({ file });
    const serving = await serve({ logger }, { agent: ending });
    const closing = serving.close();
    await ending.dispose();
    await closing;
    // Lines are written in order: one of the probe's would stand before this.
    logger.warn("the end");
    await expect.poll(() => readFileSync(file, "utf8")).toContain("the end");
    expect(readFileSync(file, "utf8")).not.toContain("not ready");
  });

  it("ends when the server begins to close", async () => {
    const serving = await serve();
    const { url, server } = serving;
    await expect.poll(async () => (await ask(at(url, "/readyz"))).status).toBe(200);
    expect(server.runs.active).toBe(0);
    await serving.close();
    await expect(ask(at(url, "/readyz"))).rejects.toThrow("ECONNREFUSED");
  });
});

describe("the SSE transport", () => {
  it("has its own two routes, by method", async () => {
    const { url } = await serve({ transport: "sse" });
    expect(new URL(url).pathname).toBe("/sse");
    expect((await ask(url, { method: "HEAD" })).status).toBe(404);
    expect(await post(url, INITIALIZE)).toMatchObject({
      status: 404,
      body: "There is nothing at POST /sse. MCP is served at /sse.\n",
    });
    expect((await ask(at(url, "/messages"))).status).toBe(404);
    expect(await post(at(url, "/messages?sessionId=x"), INITIALIZE)).toMatchObject({
      status: 404,
      body: "Session not found",
    });
    expect((await ask(at(url, "/mcp"))).status).toBe(404);
  });
});
