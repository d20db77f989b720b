/**
 * Measures the tokens (o200k_base) of tasks: done by direct calls with all tools, with those of the servers needed, with
 * those used, and by code. The calls and the programs are recorded; their results come from real MCP servers, the
 * programs run in the real sandbox, and the prompt is the one that a model is really sent.
 *
 *     pnpm eval:tokens [--data FOLDER_WITH_tools.jsonl] [--json FILE]
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import type { ToolCatalog } from "@cem/core";
import { createLlmGenerator } from "@cem/codegen/llm";
import type { RawToolDefinition } from "@cem/tool-files";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";
import { startChatServer } from "../../codegen/fixtures/chat-server.ts";
import type { ChatServer, Reply } from "../../codegen/fixtures/chat-server.ts";
import { createAgent } from "../src/create-agent.ts";
import { startMcpTools } from "./tokens/mcp-catalog.ts";
import type { McpTools } from "./tokens/mcp-catalog.ts";
import { toolsOf } from "./tokens/tools-of.ts";
import { count, definitionTokens, direct, printTable } from "./tokens/measure.ts";
import type { Cost, DirectTurn } from "./tokens/measure.ts";
import { FILES, RECORDED_TASKS } from "./tokens/recorded-tasks.ts";
import type { RecordedTask } from "./tokens/recorded-tasks.ts";

const CATALOG_SIZES = [10, 100, 1_000, 5_846];

interface Row {
  task: string;
  directAll: Cost;
  directServers: Cost;
  directUsed: Cost;
  code: Cost;
}

const { values: options } = parseArgs({ options: { data: { type: "string" }, json: { type: "string" } } });
const folder = temporaryFolder("cem-tokens");
const root = path.join(folder, "files");
for (const [name, text] of Object.entries(FILES)) {
  await mkdir(path.dirname(path.join(root, name)), { recursive: true });
  await writeFile(path.join(root, name), text);
}
const tools = await startMcpTools(root, path.join(folder, "servers"));
try {
  const rows: Row[] = [];
  for (const recorded of RECORDED_TASKS) rows.push(await measureTask(recorded));
  const dearer = rows.filter(({ code, directUsed }) => code.billed > directUsed.billed).length;
  const report = {
    tools: tools.definitions.length,
    rows,
    dearerThanUsedOnly: dearer,
    dearerThanAll: rows.filter(({ code, directAll }) => code.billed > directAll.billed).length,
    upFront: options.data === undefined ? [] : await upFront(options.data),
  };
  printTable(report);
  if (options.json !== undefined) await writeFile(options.json, JSON.stringify(report, null, 2));
} finally {
  await tools.connections.close();
}

async function measureTask(recorded: RecordedTask): Promise<Row> {
  const task = recorded.task.replaceAll("ROOT", root);
  const turns: DirectTurn[] = [];
  for (const calls of recorded.turns) turns.push(await replay(calls, tools));
  const used = new Set(recorded.turns.flat().map(({ server, tool }) => `${server} ${tool}`));
  const servers = new Set(recorded.turns.flat().map(({ server }) => server));
  const all = tools.definitions;
  const cost = (definitions: McpTools["definitions"]): Cost =>
    direct(definitionTokens(definitions.map(({ definition }) => definition)), task, turns, recorded.answer);
  return {
    task: recorded.task,
    directAll: cost(all),
    directServers: cost(all.filter(({ server }) => servers.has(server))),
    directUsed: cost(all.filter(({ server, definition }) => used.has(`${server} ${definition.name}`))),
    code: await byCode(task, recorded.program.replaceAll("ROOT", root)),
  };
}

async function replay(calls: RecordedTask["turns"][number], { invoker }: McpTools): Promise<DirectTurn> {
  const signal = AbortSignal.timeout(30_000);
  const results = await Promise.all(
    calls.map(async (call) => {
      const args = JSON.parse(JSON.stringify(call.args).replaceAll("ROOT", root));
      const result = await invoker.invoke({ ...call, args }, { signal });
      if (!result.ok) throw new Error(`${call.server}.${call.tool}: ${result.error.message}`);
      return {
        call: JSON.stringify({ name: call.tool, arguments: args }),
        result: JSON.stringify(result.value),
      };
    }),
  );
  return results;
}

/** The program as a model's answer, on its real way: prompt, checks, sandbox, result. */
async function byCode(task: string, program: string): Promise<Cost> {
  return withModel({ text: `\`\`\`ts\n${program}\n\`\`\`` }, tools.catalog, async (agent, server) => {
    const result = await agent.executeTask(task);
    if (result.status !== "success") throw new Error(`${task}: ${result.error?.message}`);
    const [prompt, answer] = [promptTokens(server), count(program)];
    const used = result.contextTokens.used;
    return { peak: Math.max(prompt + answer, used), billed: prompt + answer + used };
  });
}

async function withModel<T>(
  reply: Reply,
  catalog: ToolCatalog,
  work: (agent: ReturnType<typeof createAgent>, server: ChatServer) => Promise<T>,
): Promise<T> {
  const server = await startChatServer({ replies: [reply] });
  const agent = createAgent({
    configFile: false,
    catalog,
    invoker: tools.invoker,
    generator: createLlmGenerator({ model: "gpt-4o", baseUrl: server.origin }),
    config: {
      execution: { workspaceDir: path.join(folder, "workspace"), serversDir: path.join(folder, "servers") },
    },
  });
  try {
    return await work(agent, server);
  } finally {
    await agent.dispose();
    await server.close();
  }
}

function promptTokens({ requests }: ChatServer): number {
  return count((requests[0]?.body.messages ?? []).map(({ content }) => content).join("\n"));
}

/** Tokens that a model reads before its first word, by the size of the catalog: median over the tasks. */
async function upFront(data: string): Promise<{ tools: number; direct: number; code: number }[]> {
  const text = await readFile(path.join(data, "tools.jsonl"), "utf8");
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as RawLine);
  const sizes = [...new Set(CATALOG_SIZES.map((size) => Math.min(size, lines.length)))];
  const figures: { tools: number; direct: number; code: number }[] = [];
  for (const size of sizes) {
    const part = lines.slice(0, size);
    const prompts: number[] = [];
    for (const { task } of RECORDED_TASKS) {
      prompts.push(
        await withModel({ text: "CANNOT: nothing is run here" }, catalogOf(part), async (agent, server) => {
          await agent.executeTask(task);
          return promptTokens(server);
        }),
      );
    }
    const direct = definitionTokens(part.map((line) => definitionOf(line)));
    figures.push({ tools: size, direct, code: prompts.toSorted((a, b) => a - b)[prompts.length >> 1] ?? 0 });
  }
  return figures;
}

interface RawLine {
  server: string;
  tool: string;
  description?: string;
  inputSchema?: unknown;
}

function definitionOf({ tool, description, inputSchema }: RawLine): RawToolDefinition {
  return { name: tool, description, inputSchema };
}

function catalogOf(lines: readonly RawLine[]): ToolCatalog {
  const servers = [...Map.groupBy(lines, ({ server }) => server)].map(([name, group]) => ({
    name,
    description: "",
    kind: "host" as const,
    tools: toolsOf(name, group.map(definitionOf)),
  }));
  return { specificationVersion: "v1", list: async () => ({ servers, problems: [], version: "1" }) };
}
