// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { createAgentServer, createLogger, measureTokenCost, serveHttp } from "@cem/mcp-server";

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
