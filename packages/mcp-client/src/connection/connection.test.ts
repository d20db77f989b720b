import { describe, expect, it } from "vitest";
import { connect, odd } from "../../fixtures/servers.ts";

const signal = new AbortController().signal;

describe.concurrent("limits of a server", () => {
  it("ends a call whose time is up, and tells the server", async () => {
    await using connections = connect([odd("plain", { timeoutMs: 100 })]);
    await expect(connections.callTool("odd", "wait", { ms: 60_000 }, { signal })).rejects.toMatchObject({
      code: "TOOL_TIMEOUT",
      message: 'Server "odd" did not answer within 100 ms.',
    });
    await connections.untilLogged("cancelled");
  });

  it.each([
    ['{"jsonrpc":"2.0","id":"ID","result":{"content":[]}}', "Received a response for an unknown message ID"],
    ['{"jsonrpc":"2.0","id":ID,"result":{"x":NaN}}', "The server wrote a line that is not a message"],
  ])("says what came in place of an answer: %s", async (line, said) => {
    await using connections = connect([odd("plain", { timeoutMs: 1_500 })]);
    const message = `Server "odd" did not answer within 1500 ms. Meanwhile: ${said}.`;
    const call = connections.callTool("odd", "write", { line }, { signal });
    await expect(call).rejects.toMatchObject({ code: "TOOL_TIMEOUT", message });
  });

  it("reads the answers in a batch", async () => {
    await using connections = connect([odd("plain")]);
    const content = [{ type: "text", text: "well" }];
    const line = JSON.stringify([{ jsonrpc: "2.0", id: 0, result: { content } }]).replace(
      '"id":0',
      '"id":ID',
    );
    expect(await connections.callTool("odd", "write", { line }, { signal })).toMatchObject({ content });
  });

  it("carries a cancellation to the server", async () => {
    await using connections = connect([odd("plain")]);
    const controller = new AbortController();
    await connections.listTools("odd");
    const call = connections.callTool("odd", "wait", { ms: 60_000 }, { signal: controller.signal });
    await connections.untilLogged("waiting");
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    await connections.untilLogged("cancelled");
  });

  it("frees a caller that waits for its turn when it is cancelled", async () => {
    await using connections = connect([odd("plain", { concurrency: 1 })]);
    const first = connections.callTool("odd", "wait", { ms: 20 }, { signal });
    const controller = new AbortController();
    const second = connections.callTool("odd", "echo", { text: "b" }, { signal: controller.signal });
    controller.abort();
    await expect(second).rejects.toMatchObject({ code: "ABORTED" });
    expect((await first).content).toEqual([{ type: "text", text: "waited" }]);
  });

  it("holds the number of calls at once", async () => {
    await using connections = connect([odd("plain", { concurrency: 3 })]);
    await Promise.all(
      Array.from({ length: 9 }, () => connections.callTool("odd", "wait", { calls: 3 }, { signal })),
    );
    const { content } = await connections.callTool("odd", "most_at_once", {}, { signal });
    expect(content).toEqual([{ type: "text", text: "3" }]);
  });

  it("holds back no call where none is set", async () => {
    await using connections = connect([odd("plain")]);
    const waits = new AbortController();
    const waiting = Array.from({ length: 40 }, () =>
      connections.callTool("odd", "wait", { ms: 60_000 }, { signal: waits.signal }),
    );
    // The server gets this one after the others.
    const { content } = await connections.callTool("odd", "most_at_once", {}, { signal });
    expect(content).toEqual([{ type: "text", text: "40" }]);
    waits.abort();
    await Promise.allSettled(waiting);
  });

  it("passes progress on", async () => {
    await using connections = connect([odd("plain")]);
    const seen: unknown[] = [];
    await connections.callTool("odd", "count", {}, { signal, onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([
      { progress: 1, total: 3, message: "step 1" },
      { progress: 2, total: 3, message: "step 2" },
      { progress: 3, total: 3, message: "step 3" },
    ]);
  });
});
