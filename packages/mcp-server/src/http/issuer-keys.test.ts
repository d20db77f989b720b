import { exportJWK, generateKeyPair } from "jose";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { answerOf, foreignKeys, issuer, jwk, listen, OPENID } from "../../fixtures/issuer.ts";
import type { Documents } from "../../fixtures/issuer.ts";
import { createAuthenticator } from "./auth.ts";

const RESOURCE = new URL("http://127.0.0.1:3000/mcp");
const LATER =
  "The token can't be checked, since the issuer's keys can't be read now. Keep it, and try again later.";
const NOT_NOW = {
  status: 503,
  challenge: null,
  retryAfter: "5",
  body: { error: "temporarily_unavailable", error_description: LATER },
};
const WAIT_MS = 5_001;

/** Has time pass as the test says. */
function holdTime(): void {
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
}

function authenticatorOf(url: string, jwksUrl?: string) {
  const authenticator = createAuthenticator({ issuer: url, audience: "cem", jwksUrl }, RESOURCE);
  return async (token: string) => answerOf(authenticator, `Bearer ${token}`);
}

const adaOf = (url: string) => ({ clientId: JSON.stringify([url, null, "ada"]) });

describe("the keys of an issuer", () => {
  it("are found where each kind of metadata stands, or where it is told", async () => {
    const withPath: Documents = (url) => ({
      "/.well-known/oauth-authorization-server/tenant": { issuer: `${url}/tenant/`, jwks_uri: `${url}/keys` },
    });
    const tenant = await issuer(withPath);
    const iss = `${tenant.url}/tenant/`;
    expect(await authenticatorOf(iss)(await tenant.sign({ iss }))).toMatchObject(adaOf(iss));
    const { url, sign, asked } = await issuer();
    expect(await authenticatorOf(url, `${url}/keys`)(await sign())).toMatchObject(adaOf(url));
    expect(asked).toEqual(["/keys"]);
  });

  it.each<[string, object | string]>([
    ["a web page", "<h1>App</h1>"],
    ["no object", [1]],
    ["another issuer", { issuer: "https://other.example" }],
  ])("are found where the first place has %s", async (_, first) => {
    const { url, sign } = await issuer((own) => ({
      ...OPENID(own),
      "/.well-known/oauth-authorization-server": first,
    }));
    expect(await authenticatorOf(url)(await sign())).toMatchObject(adaOf(url));
  });

  it.each<[string, Documents]>([
    ["nothing", () => ({})],
    [
      "another issuer",
      (url) => ({ "/.well-known/openid-configuration": { issuer: "x", jwks_uri: `${url}/keys` } }),
    ],
    ["no keys", (url) => ({ "/.well-known/openid-configuration": { issuer: url } })],
    ["a key set that is a page", (url) => ({ ...OPENID(url), "/keys": "<h1>Maintenance</h1>" })],
    ["a key set that is none", (url) => ({ ...OPENID(url), "/keys": {} })],
    ["a key set that is not there", (url) => ({ ...OPENID(url), "/keys": undefined })],
  ])("let nobody in while the metadata names %s, and are asked for again", async (_, documents) => {
    holdTime();
    let current = documents;
    const { url, sign } = await issuer((own) => current(own));
    const check = authenticatorOf(url);
    expect(await check(await sign())).toEqual(NOT_NOW);
    current = OPENID;
    vi.advanceTimersByTime(WAIT_MS);
    expect(await check(await sign())).toMatchObject(adaOf(url));
  });

  it("are asked for once in some seconds while they can't be read, and for no token that can't be one", async () => {
    holdTime();
    const { url, sign, asked } = await issuer(() => ({}));
    const check = authenticatorOf(url);
    for (const garbage of ["abc", "a.b.c"]) expect(await check(garbage)).toMatchObject({ status: 401 });
    expect(asked).toEqual([]);
    for (let times = 0; times < 3; times += 1) expect(await check(await sign())).toEqual(NOT_NOW);
    expect(asked).toHaveLength(2);
    vi.advanceTimersByTime(WAIT_MS);
    await check(await sign());
    expect(asked).toHaveLength(4);
  });

  it("hold where the issuer fails later, and new ones are seen soon", async () => {
    holdTime();
    const { url, sign, published } = await issuer();
    let isDown = false;
    const front = await listen((_request, response) => {
      if (isDown) response.writeHead(503);
      response.end(JSON.stringify({ keys: published }));
    });
    const check = authenticatorOf(url, front);
    expect(await check(await sign())).toMatchObject(adaOf(url));
    isDown = true;
    vi.advanceTimersByTime(WAIT_MS);
    const rotated = async () => check(await sign({}, foreignKeys.privateKey, { kid: "two" }));
    expect(await rotated()).toEqual(NOT_NOW);
    expect(await check(await sign())).toMatchObject(adaOf(url));
    isDown = false;
    published.push({ ...(await exportJWK(foreignKeys.publicKey)), kid: "two", use: "sig" });
    vi.advanceTimersByTime(WAIT_MS);
    expect(await rotated()).toMatchObject(adaOf(url));
  });

  it("are all tried for a token that does not name its key", async () => {
    const { url, sign, published } = await issuer();
    const other = await generateKeyPair("RS256");
    published.unshift({ ...jwk, ...(await exportJWK(other.publicKey)), kid: "zero" });
    const check = authenticatorOf(url);
    expect(await check(await sign({}, undefined, {}))).toMatchObject(adaOf(url));
    expect(await check(await sign({}, other.privateKey, {}))).toMatchObject(adaOf(url));
    const refused = [await sign({}, foreignKeys.privateKey, {}), await sign({ aud: "x" }, undefined, {})];
    for (const token of refused) expect(await check(token)).toMatchObject({ status: 401 });
  });

  it("let nobody in where the issuer can't be reached", async () => {
    const { sign } = await issuer();
    const iss = "http://127.0.0.1:9";
    expect(await authenticatorOf(iss)(await sign({ iss }))).toEqual(NOT_NOW);
  });
});
