// Two real MCP servers behind one program: a file of one is summed up in the other, and no model reads either.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { createAgent, generateTools } from "code-execution-mcp";
import type { AgentOptions } from "code-execution-mcp";

const notes = path.resolve("notes");
await mkdir(notes, { recursive: true });
await writeFile(path.join(notes, "team.txt"), "Ada: analyst\nGrace: admiral\nAlan: analyst\n");

const settings = {
  configFile: false as const,
  config: {
    execution: { serversDir: "./mcp-tools" },
    mcpServers: {
      files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", notes] },
      memory: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-memory"],
        env: { MEMORY_FILE_PATH: path.resolve("memory.jsonl") },
      },
    },
  },
} satisfies AgentOptions;

// As `cem add` does in a terminal: the servers' tools become typed files.
for (const { server, tools, error } of await generateTools(settings)) {
  console.log(`${server}: ${error?.message ?? `${tools} tools`}`);
}

const agent = createAgent(settings);
const { value, error, toolCalls } = await agent.executeCode(`
import { read_text_file } from "./servers/files/index.ts";
import { create_entities, search_nodes } from "./servers/memory/index.ts";

const { content } = await read_text_file({ path: ${JSON.stringify(path.join(notes, "team.txt"))} });
const people = content.trim().split("\\n").map((line) => line.split(": "));
await create_entities({
  entities: people.map(([name = "", role = ""]) => ({ name, entityType: "person", observations: [role] })),
});
const { entities } = await search_nodes({ query: "analyst" });
export default entities.map(({ name }) => name);
`);
if (error !== null) throw new Error(error.message);
console.log(`Analysts: ${JSON.stringify(value)}`);
console.log(toolCalls.map(({ server, tool }) => `${server}.${tool}`).join(", "));
await agent.dispose();
