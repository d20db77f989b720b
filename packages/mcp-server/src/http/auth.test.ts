import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { SignJWT } from "jose";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { connectHttp, jsonOf } from "../../fixtures/clients.ts";
import { answerOf, foreignKeys, issuer, jwk, now } from "../../fixtures/issuer.ts";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { ask, at, INITIALIZE, LIST_TOOLS, post, servesInTests } from "../../fixtures/serve.ts";
import { createLogger } from "../index.ts";
import type { HttpMount } from "../index.ts";
import { createAuthenticator } from "./auth.ts";

const { agent } = createLocalAgent();
const serve = servesInTests(agent);
const TOKEN = "a-long-enough-token-0123456789";
const RESOURCE = new URL("http://127.0.0.1:3000/mcp");
const LISTEN = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "subscriptions/listen",
  params: {
    notifications: { toolsListChanged: true },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
});

afterAll(() => agent.dispose());

describe("createAuthenticator", () => {
  describe("of a shared token", () => {
    it("refuses one that can be guessed, with the numbers", () => {
      const create = (token: string) => () => createAuthenticator({ token }, RESOURCE);
      expect(create("x".repeat(15))).toThrow(
        expect.objectContaining({
          code: "AUTH_INVALID",
          message: "The token has 15 characters and needs at least 16: a shorter one can be guessed.",
          details: { characters: 15, minCharacters: 16 },
        }),
      );
      expect(create("x".repeat(16))).not.toThrow();
    });

    it("accepts that token only", async () => {
      const authenticator = createAuthenticator({ token: TOKEN }, RESOURCE);
      expect(await answerOf(authenticator, `Bearer ${TOKEN}`)).toMatchObject({
        clientId: "shared-token",
        token: TOKEN,
        scopes: [],
      });
      for (const wrong of [undefined, "", "Bearer", `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, TOKEN]) {
        expect(await answerOf(authenticator, wrong)).toMatchObject({
          status: 401,
          challenge: expect.stringMatching(/^Bearer/),
        });
      }
      expect(await answerOf(authenticator, `Bearer ${TOKEN.slice(1)}`)).toMatchObject({
        body: { error: "invalid_token", error_description: "The token is wrong." },
      });
      expect(authenticator.resourceMetadata).toBeUndefined();
    });
  });

  describe("of an OAuth issuer", () => {
    it("checks signature, issuer, audience, time and scopes", async () => {
      const { url, sign } = await issuer();
      const authenticator = createAuthenticator({ issuer: url, audience: "cem", scopes: ["run"] }, RESOURCE);
      const check = async (token: string) => answerOf(authenticator, `Bearer ${token}`);
      const exp = now() + 60;
      expect(await check(await sign({ exp }))).toMatchObject({
        clientId: JSON.stringify([url, null, "ada"]),
        scopes: ["run"],
        expiresAt: exp + 30,
      });
      expect(await check(await sign({ exp: now() - 10 }))).toMatchObject({ scopes: ["run"] });
      expect(await check(await sign({ nbf: now() + 20 }))).toMatchObject({
        clientId: JSON.stringify([url, null, "ada"]),
      });
      const unsigned = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"ada"}')}.`;
      const secret = new TextEncoder().encode(JSON.stringify(jwk));
      const symmetric = await new SignJWT({ iss: url, aud: "cem", exp: now() + 60, scope: "run" })
        .setProtectedHeader({ alg: "HS256", kid: "one" })
        .sign(secret);
      const refused = [
        await sign({}, foreignKeys.privateKey),
        await sign({ iss: "https://other.example" }),
        await sign({ aud: "other" }),
        await sign({ exp: now() - 600 }),
        await sign({ exp: undefined }),
        await sign({ nbf: now() + 600 }),
        "not-a-token",
        unsigned,
        symmetric,
      ];
      for (const token of refused) {
        expect(await check(token)).toMatchObject({
          status: 401,
          body: {
            error: "invalid_token",
            error_description: expect.stringMatching(/^The token is not valid: /),
          },
        });
      }
      expect(await check(await sign({ scope: "read" }))).toMatchObject({ status: 403 });
    });

    it("reads scopes and client ids as the token has them", async () => {
      const { url, sign } = await issuer();
      const authenticator = createAuthenticator({ issuer: url, audience: "cem" }, RESOURCE);
      const infoOf = async (claims: Record<string, unknown>) =>
        answerOf(authenticator, `Bearer ${await sign(claims)}`);
      expect(await infoOf({ scope: "a b", client_id: "app" })).toMatchObject({
        clientId: JSON.stringify([url, "app", "ada"]),
        scopes: ["a", "b"],
      });
      expect(
        await infoOf({ scope: undefined, scp: ["a", 1], sub: undefined, client_id: "app" }),
      ).toMatchObject({
        clientId: JSON.stringify([url, "app", null]),
        scopes: ["a", "1"],
      });
      expect(await infoOf({ scope: 5 })).toMatchObject({ scopes: [] });
    });

    it("tells clients apart by issuer, client and subject, whatever is in their names", async () => {
      const { url, sign } = await issuer();
      const authenticator = createAuthenticator({ issuer: url, audience: "cem" }, RESOURCE);
      const idOf = async (claims: Record<string, unknown>) => {
        const info = await answerOf(authenticator, `Bearer ${await sign(claims)}`);
        return "clientId" in info ? info.clientId : JSON.stringify(info);
      };
      const pairs = [
        ["a/b", "c"],
        ["a", "b/c"],
        ["a", "b"],
        ['a","b', ""],
        ["b", "a"],
        ["", "a/b"],
      ] as const;
      const ids = await Promise.all(pairs.map(([client_id, sub]) => idOf({ client_id, sub })));
      expect(new Set(ids).size).toBe(pairs.length);
      expect(await idOf({ azp: "a", sub: "b" })).toBe(await idOf({ client_id: "a", sub: "b" }));
      const numbered = await Promise.all([41, 42, "42"].map((sub) => idOf({ azp: "a", sub })));
      expect(new Set(numbered).size).toBe(numbered.length);
    });

    it.each([2 ** 60, 1.5, true, {}])(
      "refuses %j as a name, which would make one client of several",
      async (value) => {
        const { url, sign } = await issuer();
        const settings = { issuer: url, audience: "cem" };
        for (const claim of ["sub", "client_id", "azp", "uid"]) {
          const ownerClaim = claim === "uid" ? claim : undefined;
          const authenticator = createAuthenticator({ ...settings, ownerClaim }, RESOURCE);
          const token = await sign({ client_id: undefined, [claim]: value });
          expect(await answerOf(authenticator, `Bearer ${token}`)).toMatchObject({
            status: 401,
            body: { error: "invalid_token", error_description: expect.stringContaining("send it as text") },
          });
        }
      },
    );

    it("refuses a token that names neither a client nor a subject", async () => {
      const { url, sign } = await issuer();
      const authenticator = createAuthenticator({ issuer: url, audience: "cem" }, RESOURCE);
      for (const nobody of [undefined, "", null, ["a"]]) {
        const token = await sign({ sub: nobody, client_id: nobody });
        expect(await answerOf(authenticator, `Bearer ${token}`)).toMatchObject({
          status: 401,
          body: {
            error: "invalid_token",
            error_description: expect.stringMatching(/neither a client|not valid|send it as text/),
          },
        });
      }
    });

    it("requires the server's own URL as the audience by default", async () => {
      const { url, sign } = await issuer();
      const authenticator = createAuthenticator({ issuer: url }, RESOURCE);
      const own = await sign({ aud: RESOURCE.href });
      expect(await answerOf(authenticator, `Bearer ${own}`)).toMatchObject({
        clientId: JSON.stringify([url, null, "ada"]),
      });
      expect(await answerOf(authenticator, `Bearer ${await sign()}`)).toMatchObject({ status: 401 });
    });
  });
});

describe("serveHttp with auth", () => {
  it("lets a client with the shared token run code", async () => {
    const { url } = await serve({ auth: { token: TOKEN } });
    const client = await connectHttp(url, "modern", { authorization: `Bearer ${TOKEN}` });
    const result = await client.callTool({ name: "execute_code", arguments: { code: "return 7" } });
    expect(jsonOf(result)).toMatchObject({ result: 7 });
    await client.close();
  });

  it("names the issuer to clients that look for it", async () => {
    const { url: issuerUrl } = await issuer();
    const { url } = await serve({ auth: { issuer: issuerUrl, scopes: ["run"] } });
    const { status, headers } = await post(url, INITIALIZE);
    const metadata = at(url, "/.well-known/oauth-protected-resource/mcp");
    expect([status, headers["www-authenticate"]]).toEqual([401, expect.stringContaining(metadata)]);
    const answer = await ask(metadata);
    expect(answer.headers).toMatchObject({
      "content-type": "application/json",
      "access-control-allow-origin": "*",
    });
    expect(JSON.parse(answer.body)).toEqual({
      resource: url,
      authorization_servers: [issuerUrl],
      scopes_supported: ["run"],
      bearer_methods_supported: ["header"],
      resource_name: "Code Execution MCP",
    });
  });

  it("tells its log why a client was refused, and no client more than it may know", async () => {
    const { url: issuerUrl, sign } = await issuer();
    const file = path.join(mkdtempSync(path.join(os.tmpdir(), "cem-auth-")), "server.log");
    onTestFinished(() => rmSync(path.dirname(file), { recursive: true, force: true }));
    const logger = createLogger({ level: "DEBUG", file });
    const logged = (): string[] => readFileSync(file, "utf8").split("\n");
    const as = async (url: string, claims = {}) => {
      const authorization = `Bearer ${await sign(claims)}`;
      return post(url, INITIALIZE, { authorization });
    };
    const good = await serve({ logger, auth: { issuer: issuerUrl, audience: "cem" } });
    expect((await as(good.url, { aud: ["other"] })).status).toBe(401);
    const wrong = `aud [\\"other\\"] instead of \\"cem\\"`;
    await expect
      .poll(() => logged().filter((line) => line.includes(wrong)))
      .toEqual([expect.stringContaining('"level":"debug"')]);
    const slashed = await serve({ logger, auth: { issuer: `${issuerUrl}/`, audience: "cem" } });
    const { status, body, headers } = await as(slashed.url);
    expect([status, headers["retry-after"]]).toEqual([503, "5"]);
    expect(body).not.toContain(issuerUrl);
    const tried = [
      `${issuerUrl}/.well-known/oauth-authorization-server: HTTP status 404`,
      `${issuerUrl}/.well-known/openid-configuration has issuer \\"${issuerUrl}\\" instead of \\"${issuerUrl}/\\"`,
    ].join("; ");
    await expect
      .poll(() => logged().filter((line) => line.includes(tried)))
      .toEqual([expect.stringContaining('"level":"warn"')]);
  });

  it("ends what a client listens to when its token has expired", async () => {
    const { url: issuerUrl, sign } = await issuer();
    const mount: HttpMount = {
      path: "/follow/*",
      checks: "token",
      fetch: async () =>
        new Response(new ReadableStream({ start: (into) => into.enqueue(new Uint8Array(1)) })),
    };
    const { url } = await serve({ auth: { issuer: issuerUrl, audience: "cem" }, mounts: [mount] });
    const headers = {
      authorization: `Bearer ${await sign()}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    };
    const { headers: opened } = await post(url, INITIALIZE, headers);
    const session = {
      "mcp-session-id": String(opened["mcp-session-id"]),
      "mcp-protocol-version": "2025-11-25",
    };
    const toFake = ["setTimeout", "clearTimeout", "Date"] as const;
    vi.useFakeTimers({ toFake: [...toFake], now: Date.now(), shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" };
    const streams = await Promise.all([
      fetch(url, { headers: { ...headers, ...session } }),
      fetch(url, { method: "POST", headers: { ...headers, ...modern }, body: LISTEN }),
      fetch(at(url, "/follow/all"), { headers }),
    ]);
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
    vi.advanceTimersByTime(91_000);
    for (const stream of streams) await expect(stream.text()).rejects.toThrow("terminated");
    expect((await ask(url, { headers: { ...headers, ...session } })).status).toBe(401);
  });

  it("keeps one user's session from another", async () => {
    const { url: issuerUrl, sign } = await issuer();
    const { url } = await serve({ auth: { issuer: issuerUrl, audience: "cem" } });
    const as = async (sub: string) => ({ authorization: `Bearer ${await sign({ sub })}` });
    const { headers } = await post(url, INITIALIZE, await as("ada"));
    const session = { "mcp-session-id": String(headers["mcp-session-id"]) };
    expect((await post(url, LIST_TOOLS, { ...session, ...(await as("bob")) })).status).toBe(404);
    expect((await post(url, LIST_TOOLS, { ...session, ...(await as("ada")) })).status).toBe(200);
  });
});
