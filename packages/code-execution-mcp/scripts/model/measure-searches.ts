import { cp } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { loadTokenCounter } from "@cem/core/tokens";
import { temporaryFolder } from "../../../../scripts/temporary-folder.ts";
import { generateTools } from "../../src/admin.ts";
import { createServer } from "../../src/index.ts";
import type { ServerOptions } from "../../src/index.ts";
import type { SearchFigures } from "./figures.ts";
import { createOwnServers } from "./own-servers.ts";

/** Words that a model searches for, with the tools of which it needs one. None: nothing here does it. */
export type Search = readonly [query: string, ...tools: string[]];

const require = createRequire(import.meta.url);
const root = path.resolve(import.meta.dirname, "../../../..");
/** The reference servers of MCP by their names here; there is a sample server of the name filesystem. */
const PACKAGES = {
  everything: "everything",
  files: "filesystem",
  memory: "memory",
  thinking: "sequential-thinking",
};

/** Searches of the sample servers, the reference servers of MCP and those of our own. */
const SEARCHES: readonly Search[] = [
  ["weather in a city", "get_weather"],
  ["weather forecast", "get_forecast"],
  ["add two numbers", "add", "get_sum"],
  ["calculate an expression", "calculate"],
  ["multiply numbers", "multiply"],
  ["run a SQL query", "query"],
  ["list database tables", "list_tables"],
  ["read a file", "read_file", "read_text_file"],
  ["read several files at once", "read_multiple_files"],
  ["write a file", "write_file"],
  ["list files in a folder", "list_directory"],
  ["find files by name pattern", "search_files"],
  ["move or rename a file", "move_file"],
  ["size and modification time of a file", "get_file_info"],
  ["create a folder", "create_directory"],
  ["store facts about a person", "create_entities", "add_observations"],
  ["Forget everything about Ada", "delete_entities"],
  ["search the knowledge graph", "search_nodes"],
  ["read the whole graph", "read_graph"],
  ["relations between entities", "create_relations"],
  ["list open issues", "list_issues"],
  ["close an issue", "close_issue"],
  ["create an issue with a title", "create_issue"],
  ["delete issue 4", "delete_issue"],
  ["search my mailbox for invoices", "search_messages"],
  ["read a message", "read_message"],
  ["send an email", "send_message"],
  ["price of a parcel", "quote"],
  ["where is my parcel", "track"],
  ["echo a message", "echo"],
  ["get a tiny image", "get_tiny_image"],
  ["environment variables", "get_env"],
  ["read a resource", "mcp_resources_read"],
  ["list resources", "mcp_resources_list"],
  ["think step by step", "sequentialthinking"],
  ["delete a file"],
  ["book a flight to Rome"],
  ["translate text to French"],
  ["play a song"],
  ["order a pizza"],
];

/** Searches the tools of real servers as a client's model does, which can't be asked for a yes. */
export async function measureSearches(
  given: {
    mcpServers?: NonNullable<ServerOptions["config"]>["mcpServers"];
    searches?: readonly Search[];
    print?: boolean;
  } = {},
): Promise<SearchFigures> {
  const { mcpServers, searches = SEARCHES, print = false } = given;
  const cwd = temporaryFolder("cem-searches");
  const referenceServers = Object.entries(PACKAGES).map(([name, folder]) => [
    name,
    { command: process.execPath, args: [binOf(folder), ...(name === "files" ? [cwd] : [])] },
  ]);
  const options: ServerOptions = {
    cwd,
    configFile: false,
    config: { mcpServers: mcpServers ?? Object.fromEntries(referenceServers) },
    ...(mcpServers === undefined && { tools: createOwnServers() }),
  };
  if (mcpServers === undefined)
    await cp(path.join(root, "servers"), path.join(cwd, "servers"), { recursive: true });
  await generateTools(options);
  const server = await createServer(options);
  const client = new Client({ name: "searches", version: "1.0.0" });
  try {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await (await server.factory({ era: "legacy" })).connect(far);
    await client.connect(near);
    const textsOf = async (name: string, args: Record<string, unknown>): Promise<string[]> => {
      const { content } = await client.callTool({ name, arguments: args });
      return content.map((part) => (part.type === "text" ? part.text : ""));
    };
    const count = await loadTokenCounter();
    const [list = "{}"] = await textsOf("list_available_tools", {});
    const listed = JSON.parse(list) as Record<string, string[]>;
    const figures: SearchFigures = {
      tools: Object.values(listed).flat().length,
      answered: [],
      unanswered: [],
      missed: [],
    };
    for (const [query, ...tools] of searches) {
      const text = (await textsOf("search_tools", { query })).join("\n");
      const isFound = tools.some((tool) => new RegExp(`(?<![\\w$])${tool}(?![\\w$])`, "u").test(text));
      (tools.length === 0 ? figures.unanswered : figures.answered).push(count(text));
      if (tools.length > 0 && !isFound) figures.missed.push(query);
      if (print) process.stdout.write(`--- ${query}: ${count(text)} tokens\n${text}\n`);
    }
    return figures;
  } finally {
    await client.close();
    await server.close();
  }
}

function binOf(name: string): string {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return path.join(path.dirname(manifest), "dist/index.js");
}
