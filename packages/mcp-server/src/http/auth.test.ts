import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { connectHttp, jsonOf } from "../../fixtures/clients.ts";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { ask, at, INITIALIZE, LIST_TOOLS, post, servesInTests } from "../../fixtures/serve.ts";
import { createAuthenticator } from "./auth.ts";
import type { Authenticator } from "./auth.ts";

const { agent } = createLocalAgent();
const serve = servesInTests(agent);
const TOKEN = "a-long-enough-token-0123456789";
const LATER =
  "The token can't be checked, since the issuer's keys can't be read now. Keep it, and try again later.";
const RESOURCE = new URL("http://127.0.0.1:3000/mcp");
const keys = await generateKeyPair("RS256");
const foreignKeys = await generateKeyPair("RS256");
const jwk = { ...(await exportJWK(keys.publicKey)), kid: "one", alg: "RS256", use: "sig" };
const now = (): number => Math.floor(Date.now() / 1000);

afterAll(() => agent.dispose());

type Documents = (url: string) => Record<string, object | undefined>;
const OPENID: Documents = (url) => ({
  "/.well-known/openid-configuration": { issuer: url, jwks_uri: `${url}/keys` },
});

/** The URL of a server that runs until the test ends. */
async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An issuer that publishes its metadata and its keys, until the test ends. */
async function issuer(documents: Documents = OPENID) {
  const asked: string[] = [];
  const url = await listen((request, response) => {
    asked.push(request.url ?? "");
    const answers: Record<string, object | undefined> = { ...documents(url), "/keys": { keys: [jwk] } };
    const answer = answers[request.url ?? ""];
    response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? {}));
  });
  const sign = (claims: Record<string, unknown> = {}, key = keys.privateKey) =>
    new SignJWT({ iss: url, aud: "cem", sub: "ada", scope: "run", exp: now() + 60, ...claims })
      .setProtectedHeader({ alg: "RS256", kid: "one" })
      .sign(key);
  return { url, sign, asked };
}

async function answerOf(authenticator: Authenticator, authorization: string | undefined) {
  const checked = await authenticator.check(authorization);
  if ("authInfo" in checked) return checked.authInfo;
  const { status, headers } = checked.refusal;
  return { status, challenge: headers.get("www-authenticate"), body: await checked.refusal.json() };
}

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
        expiresAt: exp,
      });
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
    });

    it("refuses a token that names neither a client nor a subject", async () => {
      const { url, sign } = await issuer();
      const authenticator = createAuthenticator({ issuer: url, audience: "cem" }, RESOURCE);
      for (const nobody of [undefined, "", null, 5, ["a"]]) {
        const token = await sign({ sub: nobody, client_id: nobody });
        expect(await answerOf(authenticator, `Bearer ${token}`)).toMatchObject({
          status: 401,
          body: {
            error: "invalid_token",
            error_description: expect.stringMatching(/neither a client|not valid/),
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

    it("finds the keys where each kind of metadata stands, or where it is told", async () => {
      const withPath: Documents = (url) => ({
        "/.well-known/oauth-authorization-server/tenant": {
          issuer: `${url}/tenant/`,
          jwks_uri: `${url}/keys`,
        },
      });
      const tenant = await issuer(withPath);
      const iss = `${tenant.url}/tenant/`;
      const byPath = createAuthenticator({ issuer: iss, audience: "cem" }, RESOURCE);
      expect(await answerOf(byPath, `Bearer ${await tenant.sign({ iss })}`)).toMatchObject({
        clientId: JSON.stringify([iss, null, "ada"]),
      });
      const { url, sign, asked } = await issuer();
      const told = createAuthenticator({ issuer: url, audience: "cem", jwksUrl: `${url}/keys` }, RESOURCE);
      expect(await answerOf(told, `Bearer ${await sign()}`)).toMatchObject({
        clientId: JSON.stringify([url, null, "ada"]),
      });
      expect(asked).toEqual(["/keys"]);
    });

    it.each<[string, Documents]>([
      ["nothing", () => ({})],
      [
        "another issuer",
        (url) => ({ "/.well-known/openid-configuration": { issuer: "x", jwks_uri: `${url}/keys` } }),
      ],
      ["no keys", (url) => ({ "/.well-known/openid-configuration": { issuer: url } })],
    ])("lets nobody in while the metadata names %s, and tries again", async (_, documents) => {
      let current = documents;
      const { url, sign } = await issuer((own) => current(own));
      const authenticator = createAuthenticator({ issuer: url, audience: "cem" }, RESOURCE);
      const authorization = `Bearer ${await sign()}`;
      expect(await answerOf(authenticator, authorization)).toMatchObject({
        status: 503,
        challenge: null,
        body: { error: "temporarily_unavailable", error_description: LATER },
      });
      current = OPENID;
      expect(await answerOf(authenticator, authorization)).toMatchObject({
        clientId: JSON.stringify([url, null, "ada"]),
      });
    });

    it("lets nobody in where the issuer can't be reached", async () => {
      const authenticator = createAuthenticator({ issuer: "http://127.0.0.1:9" }, RESOURCE);
      expect(await answerOf(authenticator, "Bearer a.b.c")).toMatchObject({ status: 503 });
    });

    it.each<[string, number, string]>([
      ["fails", 503, "down"],
      ["is a web page", 200, "<h1>Maintenance</h1>"],
      ["is none", 200, "{}"],
    ])("does not take a token for wrong while the key set %s", async (_, status, text) => {
      const { url, sign } = await issuer();
      let isDown = true;
      const keySet = await listen((_request, response) => {
        if (isDown) return void response.writeHead(status).end(text);
        return void response.end(JSON.stringify({ keys: [jwk] }));
      });
      const authenticator = createAuthenticator({ issuer: url, audience: "cem", jwksUrl: keySet }, RESOURCE);
      const authorization = `Bearer ${await sign()}`;
      expect(await answerOf(authenticator, authorization)).toEqual({
        status: 503,
        challenge: null,
        body: { error: "temporarily_unavailable", error_description: LATER },
      });
      isDown = false;
      expect(await answerOf(authenticator, authorization)).toMatchObject({
        clientId: JSON.stringify([url, null, "ada"]),
      });
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
