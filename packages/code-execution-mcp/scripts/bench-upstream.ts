import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createAgent } from "code-execution-mcp";
import { generateTools } from "code-execution-mcp/admin";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";

/**
 * Measures the time from a new agent to the result of a first call of an MCP server's tool, with 20 servers
 * configured: all of them well, and with 3 that hang. Both are measured in turn, so that a busy machine is fair to
 * both: `node --conditions=@cem/source scripts/bench-upstream.ts [rounds]`.
 */
const rounds = Number(process.argv[2] ?? 10);
const SERVERS = 20;
const oddServer = fileURLToPath(new URL("../../mcp-client/fixtures/odd-server.ts", import.meta.url));
const CODE = 'import { echo } from "./servers/live/index.ts";\nreturn echo({ text: "hi" });';

const cwd = temporaryFolder("cem-bench");

function servers(hanging: number): Record<string, { command: string; args: string[]; timeout: number }> {
  return Object.fromEntries(
    Array.from({ length: SERVERS }, (_, index) => {
      const mode = index > 0 && index <= hanging ? "hang" : "plain";
      const server = { command: process.execPath, args: [oddServer, mode], timeout: 300 };
      return [index === 0 ? "live" : `server${index}`, server];
    }),
  );
}

async function firstCall(hanging: number): Promise<number> {
  const started = performance.now();
  const agent = createAgent({
    cwd,
    configFile: false,
    config: { mcpServers: servers(hanging) },
    oneRun: true,
  });
  try {
    const { value } = await agent.executeCode(CODE);
    if (value !== "hi") throw new Error(`The call gave ${JSON.stringify(value)}.`);
    return performance.now() - started;
  } finally {
    await agent.dispose();
  }
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

await generateTools({ cwd, configFile: false, config: { mcpServers: servers(0) } });
await firstCall(0);
const times: Record<number, number[]> = { 0: [], 3: [] };
for (let round = 0; round < rounds; round += 1) {
  for (const hanging of [0, 3]) times[hanging]?.push(await firstCall(hanging));
}
for (const [hanging, measured] of Object.entries(times)) {
  const time = `${median(measured).toFixed(0)} ms (median of ${rounds})`;
  process.stdout.write(`${SERVERS} servers, ${hanging} of them hang: first call after ${time}\n`);
}
await rm(cwd, { recursive: true, force: true });
