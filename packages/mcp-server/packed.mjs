// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { createAgentServer, createLogger, measureTokenCost, serveHttp } from "@cem/mcp-server";
import { createConsole } from "@cem/mcp-server/console";

const agent = {
  executeCode: async () => ({ status: "success" }),
  discoverTools: async () => ({ servers: [] }),
};
const server = createAgentServer({ agent, profile: "code" });
assert.ok((await measureTokenCost(server)).total < 450);
const serving = await serveHttp(server, { port: 0, logger: createLogger({ level: "CRITICAL" }) });
const answer = await fetch(new URL("/healthz", serving.url));
assert.equal(answer.status, 200);
await serving.close();

const watched = {
  runs: { watch() {} },
  openClient: () => Promise.reject(new Error("Nobody asks.")),
};
const mounts = createConsole(watched);
const find = (wanted) => mounts.find(({ path }) => path === wanted);
const described = await find("/api/openapi.json").fetch(new Request("http://localhost/api/openapi.json"), {});
assert.equal((await described.json()).openapi, "3.1.0");
const page = await find("/console/*").fetch(new Request("http://localhost/console/"), {});
assert.equal(page.status, 200);
const html = await page.text();
for (const [, file] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
  const { status } = await find("/console/*").fetch(new Request(`http://localhost/console/${file}`), {});
  assert.equal(status, 200, file);
}
