import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { memoryStore } from "../../fixtures/memory-store.ts";
import { connect, odd } from "../../fixtures/servers.ts";
import { createMcpInvoker } from "../../fixtures/invoker.ts";
import { createStdioTransport } from "./stdio-transport.ts";

const signal = new AbortController().signal;

it.runIf(process.platform === "linux")(
  "a message that does not end ends its server, and says so",
  async () => {
    const args = ["-c", "head -c 280000000 /dev/zero; sleep 60"];
    const transport = createStdioTransport({ kind: "stdio", command: "sh", args }, { onStderr: () => {} });
    const closed = new Promise<void>((resolve) => Object.assign(transport, { onclose: resolve }));
    await transport.start();
    await closed;
    expect(transport.describeExit()).toMatch(
      /was ended, since it sent a message of more than 67108864 bytes/u,
    );
  },
);

describe("a server that sends too much", () => {
  it("loses the one call whose answer is too large, and serves the others", async () => {
    await using connections = connect([odd("plain")]);
    const call = (tool: string, args = {}) => connections.callTool("odd", tool, args, { signal });
    const waiting = call("wait", { ms: 500 });
    await expect(call("huge", { bytes: 70_000_000 })).rejects.toMatchObject({
      code: "RESULT_TOO_LARGE",
      message: expect.stringMatching(/"odd": the answer has more than 64 MiB.*ask for less/) as string,
    });
    expect(await waiting).toMatchObject({ content: [{ text: "waited" }] });
    expect(connections.status()).toMatchObject([{ state: "ready" }]);
  });

  it("serves large answers one after the other, more in all than one may have", async () => {
    await using connections = connect([odd("plain")]);
    const invoker = createMcpInvoker(connections, { store: memoryStore() });
    const call = { server: "odd", tool: "huge", args: { bytes: 40_000_000 } };
    for (let calls = 0; calls < 2; calls += 1)
      expect(await invoker.invoke(call, { signal })).toMatchObject({ ok: true });
    expect(connections.status()).toMatchObject([{ state: "ready" }]);
  });

  it.runIf(process.platform === "linux")("is read more slowly, which is said once", async () => {
    const args = ["-c", "yes | head -n 400000; sleep 60"];
    const warnings: string[] = [];
    let lines = 0;
    const warned = Promise.withResolvers<void>();
    const onWarning = (message: string): void => {
      warnings.push(message);
      warned.resolve();
    };
    const settings = { kind: "stdio", command: "sh", args } as const;
    const transport = createStdioTransport(settings, { onStderr: () => {}, onWarning });
    Object.assign(transport, { onerror: () => (lines += 1) });
    await transport.start();
    await warned.promise;
    await sleep(300);
    // One or two chunks of a pipe.
    expect(lines).toBeLessThan(100_000);
    expect(warnings).toEqual([expect.stringContaining("so it is read more slowly")]);
    await transport.close();
  });
});
