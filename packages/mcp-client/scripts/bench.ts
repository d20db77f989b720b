import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { answerErrors, checkCalls, compose, createHostTools, defineTool, combineSources } from "@cem/bridge";
import { createMcpConnections, createMcpToolSource } from "@cem/mcp-client";
import type { ToolInvoker } from "@cem/core";
import type { McpServerSettings } from "@cem/mcp-client";
import { createMcpInvoker } from "../fixtures/invoker.ts";
import { answering, odd } from "../fixtures/servers.ts";

/**
 * Measures checked calls of a tool against the SDK's bare client, on the same server in turns: the invoker alone,
 * and the whole bridge as an agent has it, beside host tools. Then what the check of a result costs, by its rows, and how
 * soon a live server answers when others hang.
 * Prints JSON; times in milliseconds.
 */
const ROUNDS = 15;
const CALLS = 100;
const SERVERS = 20;
const HANGING = 3;
const signal = new AbortController().signal;

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Number((sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(3));
}

async function sequential(call: () => Promise<unknown>): Promise<void> {
  for (let index = 0; index < CALLS; index += 1) await call();
}

async function parallel(call: () => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: CALLS }, call));
}

async function measureCalls(): Promise<object> {
  const settings = odd("plain", { concurrency: CALLS });
  if (settings.transport.kind !== "stdio") throw new Error("The benchmark is for stdio.");
  const { command, args = [] } = settings.transport;
  const client = new Client({ name: "bench", version: "0" });
  await client.connect(new StdioClientTransport({ command, args: [...args], stderr: "ignore" }));
  const connections = createMcpConnections({ servers: [settings] });
  const call = { server: "odd", tool: "echo", args: { text: "a" } };
  const through =
    (invoker: ToolInvoker, server = "odd") =>
    async (): Promise<void> => {
      const result = await invoker.invoke({ ...call, server }, { signal });
      if (!result.ok) throw new Error(result.error.message);
    };
  const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  const echo = defineTool({ description: "Echo.", input, execute: (value) => value });
  const sources = combineSources([
    createHostTools({ tools: { host: { echo } } }),
    createMcpToolSource(connections),
  ]);
  const bridge = compose([answerErrors, checkCalls(sources)], sources);
  const ways: Record<string, () => Promise<unknown>> = {
    bare: () => client.callTool({ name: call.tool, arguments: call.args }),
    checked: through(createMcpInvoker(connections)),
    bridge: through(bridge),
    hostTool: through(bridge, "host"),
  };
  const times: Record<string, number[]> = {};
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      for (const [how, run] of Object.entries({ Sequential: sequential, Parallel: parallel })) {
        const ms = (await time(() => run(way))) / CALLS;
        // The first round only warms up.
        if (round >= 0) (times[name + how] ??= []).push(ms);
      }
    }
  }
  await client.close();
  await connections.close();
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]));
}

/** Time of a call whose result has so many rows, with an output schema and without. */
async function measureResults(rows: number): Promise<object> {
  const row = {
    type: "object",
    properties: {
      id: { type: "integer" },
      name: { type: "string" },
      day: { type: "string", format: "date" },
    },
    required: ["id", "name"],
    additionalProperties: false,
  };
  const outputSchema = { type: "object", properties: { rows: { type: "array", items: row } } };
  const connections = createMcpConnections({
    servers: [answering({ checked: outputSchema, unchecked: undefined })],
  });
  const invoker = createMcpInvoker(connections);
  const list = Array.from({ length: rows }, (_, id) => ({ id, name: `row ${id}`, day: "2026-02-28" }));
  const args = { result: { content: [], structuredContent: { rows: list } } };
  const times: Record<string, number[]> = { checked: [], unchecked: [] };
  for (let round = -5; round < ROUNDS * 4; round += 1) {
    for (const [tool, measured] of Object.entries(times)) {
      const ms = await time(async () => {
        const result = await invoker.invoke({ server: "answering", tool, args }, { signal });
        if (!result.ok) throw new Error(result.error.message);
      });
      if (round >= 0) measured.push(ms);
    }
  }
  await connections.close();
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]));
}

/** Time until one live server among many has answered its first call, while all are being connected. */
async function measureStart(hanging: number): Promise<number> {
  const servers: McpServerSettings[] = Array.from({ length: SERVERS }, (_, index) =>
    odd(index < hanging ? "hang" : "plain", { name: `server-${index}` }),
  );
  const connections = createMcpConnections({ servers });
  const invoker = createMcpInvoker(connections);
  const controller = new AbortController();
  void connections.check({ signal: controller.signal });
  const last = { server: `server-${SERVERS - 1}`, tool: "echo", args: { text: "a" } };
  const ms = await time(() => invoker.invoke(last, { signal }));
  controller.abort();
  await connections.close();
  return ms;
}

const calls = await measureCalls();
const results: Record<string, object> = {};
for (const rows of [1, 100, 10_000]) results[`${rows} rows`] = await measureResults(rows);
const none: number[] = [];
const some: number[] = [];
for (let round = 0; round < 5; round += 1) {
  none.push(await measureStart(0));
  some.push(await measureStart(HANGING));
}
const start = {
  servers: SERVERS,
  firstCallWithNoneHanging: median(none),
  [`firstCallWith${HANGING}Hanging`]: median(some),
};
process.stdout.write(
  `${JSON.stringify({ callMs: calls, resultMs: results, startMs: start }, undefined, 2)}\n`,
);
