import { toErrorInfo } from "@cem/core";
import { expect, it, onTestFinished } from "vitest";
import { serveByHand, stream } from "../../fixtures/http-by-hand.ts";
import { connect } from "../../fixtures/servers.ts";

it.each(["cleanly", "by the socket"] as const)(
  "a call fails at once when the stream of its answer ends %s",
  async (way) => {
    let calls = 0;
    const server = await serveByHand((exchange) => {
      if (exchange.message.method !== "tools/call") return false;
      calls += 1;
      stream(exchange, [{ method: "notifications/message", params: { level: "info", data: "working" } }]);
      if (way === "cleanly") exchange.response.end();
      else setTimeout(() => exchange.request.socket.destroy(), 20);
      return true;
    });
    onTestFinished(() => server.close());
    await using connections = connect([{ ...server.settings, protocol: "legacy" }]);
    const call = connections.callTool("hand", "a", {}, { signal: AbortSignal.timeout(30_000) });
    await expect(call).rejects.toMatchObject({
      code: "SERVER_DOWN",
      message: expect.stringMatching(/its answer broke off. The call may have been executed/) as string,
    });
    expect(calls).toBe(1);
  },
);

it.each([
  ["does not answer", undefined, "TOOL_TIMEOUT", 1],
  ["has answered", { content: [] }, "well", 0],
])("the stream of a call is closed that its server %s, though it goes on", async (_, result, code, told) => {
  const closed = Promise.withResolvers<void>();
  let cancelled = 0;
  const server = await serveByHand((exchange) => {
    const { id, method } = exchange.message;
    if (method === "notifications/cancelled") cancelled += 1;
    if (method !== "tools/call") return false;
    exchange.response.on("close", closed.resolve);
    stream(exchange, result === undefined ? [] : [{ id, result }]);
    exchange.response.write(": ping\n\n");
    return true;
  });
  onTestFinished(() => server.close());
  await using connections = connect([{ ...server.settings, protocol: "legacy", timeoutMs: 1_000 }]);
  const call = connections.callTool("hand", "a", {}, { signal: AbortSignal.timeout(30_000) });
  const outcome = await call.then(
    () => "well",
    (error: unknown) => toErrorInfo(error).code,
  );
  expect(outcome).toBe(code);
  await closed.promise;
  await expect.poll(() => cancelled).toBe(told);
});
