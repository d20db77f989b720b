import { createServer, request as httpRequest } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { mkdtempSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { connectHttp, jsonOf } from "../fixtures/clients.ts";
import { createRealAgent } from "../fixtures/real-agent.ts";
import { createAgentServer, createLogger, serveHttp } from "./index.ts";
import type { AgentServer, HttpOptions, HttpServing } from "./index.ts";

const { agent } = createRealAgent();
const quiet = createLogger({ level: "CRITICAL" });
const TOKEN = "a-long-enough-token-0123456789";
const open: HttpServing[] = [];
const closers: (() => void)[] = [];

async function serve(options: HttpOptions = {}): Promise<HttpServing & { server: AgentServer }> {
  const server = createAgentServer({ agent });
  const serving = await serveHttp(server, { port: 0, logger: quiet, ...options });
  open.push(serving);
  return { ...serving, server };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((serving) => serving.close()));
  for (const close of closers.splice(0)) close();
});
afterAll(() => agent.dispose());

interface Answer {
  status: number;
  body: string;
  headers: IncomingHttpHeaders;
}

interface Ask {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Plain HTTP: fetch would not let a test choose the Host. */
async function ask(url: string, { method = "GET", headers = {}, body }: Ask = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, body: text, headers: answer.headers }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
});
const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  ask(url, { method: "POST", headers: { ...JSON_HEADERS, ...headers }, body });
const at = (url: string, route: string) => new URL(route, url).href;

describe("serveHttp", () => {
  describe("where it listens", () => {
    it.each(["0.0.0.0", "::", "192.0.2.1", ""])("refuses %j without auth", async (host) => {
      await expect(serve({ host })).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    });

    it.each([
      ["https://tools.example", "https://tools.example/mcp"],
      ["https://example.com/tools/mcp", "https://example.com/tools/mcp"],
    ])("is known as %s when that is its public URL", async (publicUrl, expected) => {
      expect((await serve({ publicUrl })).url).toBe(expected);
    });

    it("says so when the port is taken", async () => {
      const { url } = await serve();
      const port = Number(new URL(url).port);
      await expect(serve({ port })).rejects.toMatchObject({
        code: "ADDRESS_UNUSABLE",
        message: expect.stringContaining("which is taken"),
      });
    });

    it("takes other addresses with auth", async () => {
      const { url } = await serve({ host: "0.0.0.0", auth: { token: TOKEN } });
      expect((await post(url, INITIALIZE)).status).toBe(401);
      expect((await post(url, INITIALIZE, { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    });
  });

  describe("who may ask", () => {
    it.each([
      ["host", "evil.example", "server.allowed_hosts"],
      ["origin", "https://evil.example", "server.allowed_origins"],
    ])("refuses a strange %s", async (header, value, key) => {
      const { url } = await serve();
      for (const target of [url, at(url, "/metrics")]) {
        const { status, body } = await post(target, INITIALIZE, { [header]: value });
        expect([status, body]).toEqual([403, expect.stringContaining(key)]);
      }
    });

    it("takes those that are named", async () => {
      const { url } = await serve({ allowedHosts: ["mcp.example"], allowedOrigins: ["app.example"] });
      const headers = { host: "mcp.example:8080", origin: "https://app.example" };
      expect((await post(url, INITIALIZE, headers)).status).toBe(200);
    });

    it("tells browsers of named pages that they may, and of no others", async () => {
      const { url } = await serve({ allowedOrigins: ["app.example"] });
      const preflight = (origin: string) => ask(url, { method: "OPTIONS", headers: { origin } });
      expect(await preflight("https://app.example")).toMatchObject({
        status: 204,
        headers: { "access-control-allow-origin": "https://app.example" },
      });
      expect((await preflight("http://localhost:5173")).headers).not.toHaveProperty(
        "access-control-allow-origin",
      );
      const { headers } = await post(url, INITIALIZE, { origin: "https://app.example" });
      expect(headers["access-control-expose-headers"]).toContain("mcp-session-id");
    });

    it("answers orchestrators whatever they call it", async () => {
      const { url } = await serve({ auth: { token: TOKEN } });
      const headers = { host: "10.2.3.4:3000" };
      expect(await ask(at(url, "/healthz"), { headers })).toMatchObject({ status: 200, body: "ok\n" });
      await expect
        .poll(() => ask(at(url, "/readyz"), { headers }), { timeout: 20_000 })
        .toMatchObject({ status: 200, body: "ready\n" });
      expect((await ask(at(url, "/metrics"))).status).toBe(401);
    });
  });

  describe("a shared token", () => {
    it("is needed everywhere, and has to be the one", async () => {
      const { url } = await serve({ auth: { token: TOKEN } });
      for (const authorization of ["", "Bearer", `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, TOKEN]) {
        const { status, headers } = await post(url, INITIALIZE, { authorization });
        expect([status, headers["www-authenticate"]]).toEqual([401, expect.stringMatching(/^Bearer/)]);
      }
      const client = await connectHttp(url, "modern", { authorization: `Bearer ${TOKEN}` });
      const result = await client.callTool({ name: "execute_code", arguments: { code: "return 7" } });
      expect(jsonOf(result)).toMatchObject({ result: 7 });
      await client.close();
    });

    it("has to be long", async () => {
      await expect(serve({ auth: { token: "short" } })).rejects.toMatchObject({ code: "AUTH_INVALID" });
    });
  });

  describe("an OAuth issuer", () => {
    async function issuer() {
      const { publicKey, privateKey } = await generateKeyPair("RS256");
      const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "RS256", use: "sig" };
      const http = createServer((request, response) => {
        const answers: Record<string, object> = {
          "/.well-known/openid-configuration": { issuer: url, jwks_uri: `${url}/keys` },
          "/keys": { keys: [jwk] },
        };
        const answer = answers[request.url ?? ""];
        response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
        response.end(JSON.stringify(answer ?? {}));
      });
      await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
      closers.push(() => http.close());
      const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
      const sign = (claims: Record<string, unknown>, key: typeof privateKey = privateKey) =>
        new SignJWT({
          iss: url,
          aud: "cem",
          sub: "ada",
          scope: "run",
          exp: Date.now() / 1000 + 60,
          ...claims,
        })
          .setProtectedHeader({ alg: "RS256", kid: "one" })
          .sign(key);
      return { url, sign };
    }

    it("is checked: signature, issuer, audience, time, scope", async () => {
      const { url: issuerUrl, sign } = await issuer();
      const { url } = await serve({ auth: { issuer: issuerUrl, audience: "cem", scopes: ["run"] } });
      const status = async (token: string) =>
        (await post(url, INITIALIZE, { authorization: `Bearer ${token}` })).status;
      const { privateKey: foreign } = await generateKeyPair("RS256");
      expect(await status(await sign({}))).toBe(200);
      expect(await status(await sign({}, foreign))).toBe(401);
      expect(await status(await sign({ iss: "https://other.example" }))).toBe(401);
      expect(await status(await sign({ aud: "other" }))).toBe(401);
      expect(await status(await sign({ exp: Date.now() / 1000 - 600 }))).toBe(401);
      expect(await status(await sign({ exp: undefined }))).toBe(401);
      expect(await status(await sign({ scope: "read" }))).toBe(403);
      expect(await status("not-a-token")).toBe(401);
      expect(await status(`${btoa('{"alg":"none"}')}.${btoa('{"sub":"ada"}')}.`)).toBe(401);
    });

    it("is named to clients that look for it", async () => {
      const { url: issuerUrl } = await issuer();
      const { url } = await serve({ auth: { issuer: issuerUrl } });
      const { status, headers } = await post(url, INITIALIZE);
      const metadata = at(url, "/.well-known/oauth-protected-resource/mcp");
      expect([status, headers["www-authenticate"]]).toEqual([401, expect.stringContaining(metadata)]);
      expect(JSON.parse((await ask(metadata)).body)).toMatchObject({
        resource: url,
        authorization_servers: [issuerUrl],
      });
    });

    it("that can't be reached is no way in", async () => {
      const { url } = await serve({ auth: { issuer: "http://127.0.0.1:9" } });
      const { status } = await post(url, INITIALIZE, { authorization: "Bearer a.b.c" });
      expect(status).toBeGreaterThanOrEqual(400);
    });

    it("keeps one user's session from another", async () => {
      const { url: issuerUrl, sign } = await issuer();
      const { url } = await serve({ auth: { issuer: issuerUrl, audience: "cem" } });
      const as = async (sub: string) => ({ authorization: `Bearer ${await sign({ sub })}` });
      const { headers } = await post(url, INITIALIZE, await as("ada"));
      const session = { "mcp-session-id": String(headers["mcp-session-id"]) };
      const list = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" });
      expect((await post(url, list, { ...session, ...(await as("bob")) })).status).toBe(404);
      expect((await post(url, list, { ...session, ...(await as("ada")) })).status).toBe(200);
    });
  });

  describe("bad input", () => {
    it("gets a clear answer, and harms nobody", async () => {
      const { url } = await serve();
      expect((await post(url, "{")).status).toBe(400);
      expect((await post(url, "[]")).status).toBe(400);
      expect((await post(url, INITIALIZE, { "content-type": "text/plain" })).status).toBe(415);
      expect((await post(url, INITIALIZE, { "mcp-session-id": "nobody" })).status).toBe(404);
      expect((await ask(url, { method: "PUT" })).status).toBe(405);
      expect((await ask(at(url, "/nothing"))).body).toContain("MCP is spoken at /mcp");
      expect((await ask(url, { headers: { "x-long": "x".repeat(20_000) } })).status).toBe(431);
      expect((await post(url, INITIALIZE)).status).toBe(200);
    });

    it("of 50 MB is refused before it is read", async () => {
      const { url } = await serve();
      const client = await connectHttp(url, "modern");
      const code = `return ${JSON.stringify("x".repeat(50 * 1024 * 1024))}.length`;
      await expect(client.callTool({ name: "execute_code", arguments: { code } })).rejects.toThrow(
        /413|Payload Too Large|EPIPE|ECONNRESET|fetch failed/,
      );
      expect(jsonOf(await client.callTool({ name: "list_servers", arguments: {} }))).toHaveLength(4);
      await client.close();
    });

    it("that never comes does not keep the others waiting", async () => {
      const { url } = await serve();
      const { port } = new URL(url);
      const slow = connect(Number(port), "127.0.0.1");
      slow.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{");
      await delay(50);
      expect((await post(url, INITIALIZE)).status).toBe(200);
      slow.destroy();
    });
  });

  describe("sessions of the older protocol", () => {
    it("are bounded in number, and end when idle or deleted", async () => {
      const { url } = await serve({ maxSessions: 2, sessionIdleMs: 400 });
      const first = await post(url, INITIALIZE);
      await post(url, INITIALIZE);
      expect((await post(url, INITIALIZE)).status).toBe(503);
      const session = { "mcp-session-id": String(first.headers["mcp-session-id"]) };
      expect((await ask(url, { method: "DELETE", headers: session })).status).toBe(200);
      expect((await post(url, INITIALIZE)).status).toBe(200);
      await expect
        .poll(async () => (await post(url, INITIALIZE)).status, { timeout: 5_000, interval: 300 })
        .toBe(200);
    });
  });

  describe("the log", () => {
    it("says so when it can't be written", () => {
      const folder = mkdtempSync(path.join(os.tmpdir(), "cem-log-"));
      expect(() => createLogger({ file: folder })).toThrow(
        expect.objectContaining({ code: "LOG_UNWRITABLE" }),
      );
    });

    it("ties runs to requests, and tells neither code nor tokens", async () => {
      const file = path.join(mkdtempSync(path.join(os.tmpdir(), "cem-log-")), "logs", "server.log");
      const { url } = await serve({ logger: createLogger({ file }), auth: { token: TOKEN } });
      const client = await connectHttp(url, "modern", { authorization: `Bearer ${TOKEN}` });
      await client.callTool({ name: "execute_code", arguments: { code: `return "a secret";` } });
      await client.close();
      const text = readFileSync(file, "utf8");
      const lines = text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { msg: string; requestId?: string; path?: string });
      const run = lines.find(({ msg }) => msg === "run");
      expect(run).toMatchObject({
        kind: "code",
        status: "success",
        toolCalls: 0,
        requestId: expect.any(String),
      });
      const asked = lines.find(({ msg, requestId }) => msg === "request" && requestId === run?.requestId);
      expect(asked).toMatchObject({ method: "POST", path: "/mcp", status: 200 });
      expect(text).not.toMatch(new RegExp(`a secret|${TOKEN}`));
    });
  });

  describe("/metrics", () => {
    it("counts runs, tool calls and refusals", async () => {
      const { url } = await serve();
      const client = await connectHttp(url, "modern");
      const run = (code: string) => client.callTool({ name: "execute_code", arguments: { code } });
      await run(`import { add } from "./servers/calculator/index.ts"; return await add({ a: 1, b: 1 });`);
      await run(`import "./servers/none/index.ts";`);
      await client.close();
      const { body } = await ask(at(url, "/metrics"));
      expect(body).toContain('cem_runs_total{kind="code",status="success"} 1');
      expect(body).toContain('cem_runs_total{kind="code",status="refused"} 1');
      expect(body).toContain('cem_tool_calls_total{ok="true"} 1');
      expect(body).toContain('cem_refusals_total{code="CODE_REFUSED"} 1');
      expect(body).toMatch(/cem_run_duration_seconds_count\{kind="code"\} 2/);
      expect(body).toContain("cem_runs_active 0");
      expect(body).toContain('cem_sandbox_runs{state="running"} 0');
      expect(body).toMatch(/cem_guests\{state="standby"\} \d/);
      const takes = [...body.matchAll(/cem_guest_takes_total\{from="\w+"\} (\d+)/g)].map(([, n]) =>
        Number(n),
      );
      expect(takes.reduce((sum, n) => sum + n, 0)).toBeGreaterThan(0);
    });
  });

  describe("close", () => {
    it("is not ready, takes no more, and lets what runs finish", async () => {
      const serving = await serve();
      const client = await connectHttp(serving.url, "modern");
      const answer = client.callTool({
        name: "execute_code",
        arguments: { code: `await new Promise((r) => setTimeout(r, 600)); return "finished";` },
      });
      await expect.poll(() => serving.server.runs.active).toBe(1);
      const closing = serving.close(10_000);
      await expect(post(serving.url, INITIALIZE)).rejects.toThrow(/ECONNREFUSED/);
      expect(jsonOf(await answer)).toMatchObject({ result: "finished" });
      await closing;
    });

    it("cancels what does not finish in time", async () => {
      const serving = await serve();
      const client = await connectHttp(serving.url, "legacy");
      const answer = client.callTool({
        name: "execute_code",
        arguments: { code: `await new Promise((r) => setTimeout(r, 60_000));` },
      });
      await expect.poll(() => serving.server.runs.active).toBe(1);
      const started = performance.now();
      await Promise.allSettled([answer, serving.close(200)]);
      expect(performance.now() - started).toBeLessThan(5_000);
      expect(serving.server.runs.active).toBe(0);
    });
  });
});
