import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** An OAuth issuer with one key. */
export interface Issuer {
  issuer: string;
  /** Makes an access token for the audience `cem`. */
  sign: (claims: object) => Promise<string>;
  close: () => void;
}

/** Starts an OAuth issuer on this host. */
export async function startIssuer(): Promise<Issuer> {
  const keys = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: "one", alg: "RS256", use: "sig" };
  const server = createServer((request, response) => {
    const documents: Record<string, object> = {
      "/.well-known/openid-configuration": { issuer, jwks_uri: `${issuer}/keys` },
      "/keys": { keys: [jwk] },
    };
    const found = documents[request.url ?? ""];
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sign = (claims: object): Promise<string> =>
    new SignJWT({ iss: issuer, aud: "cem", exp: Math.floor(Date.now() / 1000) + 3_600, ...claims })
      .setProtectedHeader({ alg: "RS256", kid: "one" })
      .sign(keys.privateKey);
  return { issuer, sign, close: () => server.close() };
}
