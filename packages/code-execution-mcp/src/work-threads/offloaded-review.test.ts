import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { useWorkThreads } from "@cem/core";
import type { Guard, ToolDefinition } from "@cem/core";
import { createGuard } from "@cem/guardrails";
import { serveStdio } from "@cem/mcp-server";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeProject } from "../../test/upstream-project.ts";
import { createServer } from "../create-server.ts";
import { offloadReview } from "./offloaded-review.ts";
import { createWorkThreads, WORK_THREAD_LIMITS } from "./work-threads.ts";

const tool = (server: string, name: string, description: string): ToolDefinition => ({
  server,
  name,
  description,
  kind: "local",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  outputSchema: { type: "number" },
  callStyle: "object",
  signature: `${name}(input: { a: number; b: number }): Promise<number>`,
  module: `./servers/${server}/index.ts`,
});
const add = tool("calculator", "add", "Adds two numbers.");
const multiply = tool("calculator", "multiply", "Multiplies two numbers.");
const many = [
  add,
  multiply,
  ...Array.from({ length: 600 }, (_, at) => tool("other", `tool_${at}`, `Does thing ${at}.`)),
];

describe("a guard that threads work for", () => {
  it("reviews long code as it does itself", async () => {
    const threads = createWorkThreads(() => "", { ...WORK_THREAD_LIMITS, timeoutMs: 60_000 });
    const stopUsing = useWorkThreads(threads);
    onTestFinished(async () => {
      stopUsing();
      await threads.close();
    });
    const settings = {
      blockedPatterns: ["forbidden"],
      securityChecks: true,
      strict: false,
      allowedTools: ["*"],
      blockedTools: ["calculator.multiply"],
    };
    const isAllowed = ({ name }: ToolDefinition): true | string =>
      name !== "multiply" || "it is blocked here";
    const guard = createGuard({ ...settings, isAllowed });
    const unused: Guard = { ...guard, review: () => Promise.reject(new Error("reviewed here")) };
    const code = `import { add, multiply } from "./servers/calculator/index.ts";
import { gone } from "./servers/calculater/index.ts";
${"// a long program\n".repeat(200)}
eval("1"); tool_7({}); "forbidden";
return [await add({ a: 1, b: 2 }), await multiply({ a: 1, b: 2 }), gone];`;
    const request = { code, tools: many };
    const verdict = await offloadReview(unused, settings).review(request);
    expect(verdict).toEqual(await guard.review(request));
    expect(verdict.findings.map(({ rule }) => rule)).toEqual(
      expect.arrayContaining(["unknown-server", "tool-not-allowed", "missing-import", "code-from-text"]),
    );
  });
});

it("answers over stdio while a long program is read, and cancels that", async () => {
  const project = await makeProject();
  const { onLog: _, ...source } = project.source({});
  const config = {
    ...source.config,
    execution: { typeCheck: "before" as const },
    logging: { level: "CRITICAL" as const },
  };
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = await createServer({ ...source, config });
  const serving = serveStdio(server, { input, output });
  onTestFinished(() => serving.close());
  const answers: { id?: number; result?: object; error?: object }[] = [];
  output.on("data", (data: Buffer) => {
    for (const line of data.toString().split("\n").filter(Boolean)) answers.push(JSON.parse(line));
  });
  const send = (message: object): void =>
    void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  });
  await expect.poll(() => answers.map(({ id }) => id)).toContain(1);
  send({ method: "notifications/initialized" });
  const code = Array.from({ length: 20_000 }, (_, at) => `await no${at}({});`).join("\n");
  send({ id: 2, method: "tools/call", params: { name: "execute_code", arguments: { code } } });
  send({ id: 3, method: "tools/call", params: { name: "list_servers", arguments: {} } });
  await expect.poll(() => answers.map(({ id }) => id)).toContain(3);
  expect(answers.map(({ id }) => id)).not.toContain(2);
  send({ method: "notifications/cancelled", params: { requestId: 2, reason: "enough" } });
  send({ id: 4, method: "tools/call", params: { name: "execute_code", arguments: { code: "return 4;" } } });
  await expect.poll(() => answers.map(({ id }) => id)).toContain(4);
  await delay(50);
  expect(answers.map(({ id }) => id)).not.toContain(2);
});
