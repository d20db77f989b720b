// The cost of a call of an MCP server's tool on the host: the SDK's bare client beside an agent's own invoker, each with a
// process of the same server. Alone: node --conditions=@cem/source scripts/bench/calls.ts
import path from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createAgent, generateTools } from "code-execution-mcp";
import type { Isolation, JsonValue, SandboxProvider, ToolInvoker } from "code-execution-mcp";
import { interleaved, rounded } from "./measure.ts";
import { renderTable } from "./table.ts";
import type { Table } from "./table.ts";
import { withFolder } from "./workspace.ts";

const UPSTREAM = { command: process.execPath, args: [path.join(import.meta.dirname, "upstream-server.ts")] };
const CALLS = 100;
const ROWS = 10_000;
const AT_ONCE = 16;
const WAIT_MS = 50;

type Call = (tool: string, args: Record<string, JsonValue>) => Promise<unknown>;

/** Calls a server's tools in one way, with everything that the way needs set up. */
async function withBareClient<T>(work: (call: Call) => Promise<T>): Promise<T> {
  const client = new Client({ name: "bench", version: "0" });
  await client.connect(new StdioClientTransport({ ...UPSTREAM, stderr: "ignore" }));
  try {
    return await work((name, args) => client.callTool({ name, arguments: args }));
  } finally {
    await client.close();
  }
}

/** The same through what an agent gives its sandbox: checks, limits, the connection and the store of large results. */
async function withAgent<T>(work: (call: Call) => Promise<T>): Promise<T> {
  return withFolder(async (cwd) => {
    const settings = { cwd, configFile: false as const, config: { mcpServers: { upstream: UPSTREAM } } };
    await generateTools(settings);
    const given = Promise.withResolvers<ToolInvoker>();
    const measured = Promise.withResolvers<void>();
    const agent = createAgent({ ...settings, sandboxProvider: handOut(given.resolve, measured.promise) });
    const run = agent.executeCode("return null;", { typeCheck: "off" });
    try {
      const invoker = await given.promise;
      const { signal } = new AbortController();
      return await work(async (tool, args) => {
        const result = await invoker.invoke({ server: "upstream", tool, args }, { signal });
        if (!result.ok) throw new Error(result.error.message);
        return result.value;
      });
    } finally {
      measured.resolve();
      await run;
      await agent.dispose();
    }
  });
}

/** A sandbox without a guest, which hands out the invoker of its run and keeps the run open. */
function handOut(use: (invoker: ToolInvoker) => void, until: Promise<void>): SandboxProvider {
  const isolation: Isolation = { level: "permissions", sandbox: "none", mechanisms: [] };
  return {
    specificationVersion: "v1",
    name: "none",
    probe: async () => ({ available: true, isolation, version: "0", notes: [] }),
    create: async () => ({
      isolation,
      async run({ invoker }) {
        if (invoker !== undefined) use(invoker);
        await until;
        const report = { output: "", outputDroppedBytes: 0, toolCalls: [], toolResults: [], durationMs: 0 };
        return { ...report, isolation, status: "completed", value: null };
      },
      dispose: async () => {},
    }),
  };
}

async function inSequence(call: Call): Promise<void> {
  for (let index = 0; index < CALLS; index += 1) await call("echo", { text: `number ${index}` });
}

async function atOnce(call: Call): Promise<void> {
  await Promise.all(Array.from({ length: AT_ONCE }, () => call("wait", { ms: WAIT_MS })));
}

/** Calls of an MCP server beside the SDK's bare client. */
export async function measureCalls(rounds: number): Promise<Table> {
  return withBareClient((bare) =>
    withAgent(async (agent) => {
      const works: [string, number, (call: Call) => Promise<unknown>][] = [
        ["one call, small", CALLS, inSequence],
        [`one call, ${ROWS} rows`, 1, (call) => call("rows", { count: ROWS })],
        [`${AT_ONCE} calls of ${WAIT_MS} ms at once`, 1, atOnce],
      ];
      const rows: string[][] = [];
      for (const [name, calls, work] of works) {
        const samples = await interleaved({ bare: () => work(bare), agent: () => work(agent) }, rounds);
        const median = (way: string): number => (samples.get(way)?.median ?? NaN) / calls;
        rows.push([
          name,
          rounded(median("bare")),
          rounded(median("agent")),
          rounded(median("agent") - median("bare")),
          rounded(median("agent") / median("bare")),
        ]);
      }
      return {
        title: "Calls of an MCP server on the host, ms",
        columns: ["", "bare client", "through the agent", "more", "ratio"],
        rows,
      };
    }),
  );
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 30);
  process.stdout.write(`${renderTable(await measureCalls(rounds))}\n`);
}
