import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { browse, startProtectedServer } from "../../fixtures/authorization-server.ts";
import { connect } from "../../fixtures/servers.ts";
import { temporaryFolder } from "../../fixtures/temporary-folder.ts";

const LIMIT_MS = 10_000;

it("names the authorization server where that is the one that does not answer", async () => {
  const server = await startProtectedServer();
  onTestFinished(() => server.close());
  const remote = { name: "remote", transport: { kind: "http" as const, url: server.url } };
  const limits = { timeoutMs: LIMIT_MS, connectTimeoutMs: LIMIT_MS };
  await using connections = connect([{ ...remote, ...limits }], {
    authFolder: join(await temporaryFolder(), "tokens"),
  });
  await connections.authorize("remote", { openBrowser: async (url) => void (await browse(url)) });
  const { signal } = new AbortController();
  const call = async () => connections.callTool("remote", "add", { a: 1, b: 2 }, { signal });
  await call();
  server.expire("access");
  server.answer("/token", () => {});
  await expect(call()).rejects.toMatchObject({
    code: "SERVER_DOWN",
    message: `The sign-in to server "remote" can't be renewed now: ${server.issuer}/token did not answer in time.`,
  });
});
