// The agent as an MCP server: over HTTP for many clients, or with the argument "stdio" for the one that starts it.
import { runServer } from "code-execution-mcp";

const transport = process.argv.includes("stdio") ? "stdio" : "http";
const port = Number(process.env["PORT"] ?? 3000);
const server = await runServer({ transport, port, config: { logging: { level: "WARNING" } } });

// Standard output belongs to the protocol over stdio.
if (server.url !== undefined) console.log(`Serving at ${server.url}. Ctrl-C ends it.`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close());
await server.closed;
