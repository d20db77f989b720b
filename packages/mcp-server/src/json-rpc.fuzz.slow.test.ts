import { PassThrough } from "node:stream";
import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { FUZZ_TIMEOUT_MS, fuzzing } from "../../../vitest.fuzz.ts";
import { createLocalAgent } from "../fixtures/local-agent.ts";
import { ask, at, INITIALIZE, LIST_TOOLS, post, servesInTests } from "../fixtures/serve.ts";
import { createAgentServer, serveStdio } from "./index.ts";

const { agent } = createLocalAgent();
const serve = servesInTests(agent);
afterAll(() => agent.dispose());

const value = fc.jsonValue({ maxDepth: 3 });
const METHODS = [
  "initialize",
  "tools/list",
  "tools/call",
  "ping",
  "server/discover",
  "notifications/cancelled",
  "completion/complete",
  "__proto__",
  "",
];
const NAMES = [
  "search_tools",
  "get_state",
  "read_result",
  "list_tools",
  "execute_task",
  "nothing",
  "__proto__",
];
const params = fc.oneof(
  value,
  fc.record(
    {
      name: fc.constantFrom(...NAMES),
      arguments: fc.oneof(
        value,
        fc.record({ query: value, handle: value, max_results: value }, { requiredKeys: [] }),
      ),
      _meta: value,
    },
    { requiredKeys: ["name"] },
  ),
);
const message = fc.record(
  {
    jsonrpc: fc.oneof(fc.constant("2.0"), value),
    id: value,
    method: fc.oneof(fc.constantFrom(...METHODS), value),
    params,
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  message.map((any) => JSON.stringify(any)),
  fc.array(message, { maxLength: 3 }).map((any) => JSON.stringify(any)),
  fc.string({ unit: "binary", maxLength: 60 }),
);

describe("any request over HTTP", () => {
  it("is answered, and never as a fault of the server", { timeout: FUZZ_TIMEOUT_MS }, async () => {
    const { url } = await serve();
    const { headers: opened } = await post(url, INITIALIZE);
    const session = String(opened["mcp-session-id"]);
    const headers = fc.record(
      {
        host: fc.constantFrom(
          "localhost",
          "127.0.0.1:1",
          "evil@127.0.0.1",
          "a b",
          "[::1",
          "",
          "localhost/..",
          "%00",
        ),
        origin: fc.constantFrom("null", "http://localhost", "http://a@localhost", "x", "file://"),
        "mcp-session-id": fc.constantFrom(session, "", "nobody"),
        "mcp-protocol-version": fc.constantFrom("2025-11-25", "2026-07-28", "1", ""),
        "content-type": fc.constantFrom("application/json", "text/plain", "application/json; charset=x", ""),
        accept: fc.constantFrom("*/*", "application/json, text/event-stream", ""),
        authorization: fc.constantFrom("Bearer", "Bearer x", "x"),
        "last-event-id": fc.constantFrom("x", "", "-1"),
      },
      { requiredKeys: [] },
    );
    const target = fc.constantFrom(
      "/mcp",
      "/mcp?x=%",
      "/x//mcp",
      "/metrics",
      "/nothing",
      "/.well-known/oauth-protected-resource/x",
      "/%2e%2e/mcp",
      "/mcp/",
    );
    await fc.assert(
      fc.asyncProperty(body, headers, target, async (text, given, path) => {
        const answer = await post(new URL(path, at(url, "/")).href, text, given);
        expect([answer.status, answer.body, path, given]).toEqual([
          expect.toSatisfy((status: number) => status < 500),
          answer.body,
          path,
          given,
        ]);
      }),
      fuzzing(200),
    );
    expect((await ask(at(url, "/healthz"))).status).toBe(200);
    expect((await post(url, INITIALIZE)).status).toBe(200);
  });
});

describe("any lines over stdio", () => {
  it("leave a server that answers", { timeout: FUZZ_TIMEOUT_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(body, { maxLength: 8 }), async (lines) => {
        const [input, output] = [new PassThrough(), new PassThrough()];
        let answers = "";
        output.setEncoding("utf8").on("data", (text: string) => (answers += text));
        const serving = serveStdio(createAgentServer({ agent }), { input, output });
        for (const line of lines) input.write(`${line.replaceAll("\n", " ")}\n`);
        input.write(
          `${INITIALIZE.replace('"id":1', '"id":"last-1"')}\n${LIST_TOOLS.replace('"id":2', '"id":"last-2"')}\n`,
        );
        await expect.poll(() => answers, { timeout: 10_000, interval: 1 }).toContain('"last-2"');
        await serving.close();
      }),
      fuzzing(40),
    );
  });
});
