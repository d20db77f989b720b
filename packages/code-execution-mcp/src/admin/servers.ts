import { realpath } from "node:fs/promises";
import path from "node:path";
import type { LoadedConfig } from "@cem/config";
import type { CatalogSnapshot, ErrorInfo } from "@cem/core";
import { hintFor } from "@cem/core/errors";
import type * as McpServer from "@cem/mcp-server";
import type { ExaminedServer, GeneratedServer, GenerateOptions, McpTools } from "@cem/mcp-client/tools";
import type { ServerSource } from "../options.ts";
import { createListedCatalog } from "../wiring/calls/host-bridge.ts";
import { createLog, logged, type Log } from "../wiring/log.ts";
import { openProject } from "../wiring/open-project.ts";
import { createRecordRedactor, redactLog, redactorOf } from "../wiring/privacy/redaction.ts";
import type { Project } from "../wiring/project.ts";
import { openMcpTools } from "../wiring/servers/mcp-tools.ts";
import { layProjectFiles } from "./project.ts";

/** How long to wait for servers when tools are listed, in milliseconds: one may be down. */
const LIST_TIMEOUT_MS = 4_000;

/** Opens the log of one operation, which has tokens for personal values unless nothing is redacted. It needs no kept vault. */
export async function openLog(project: Project, { onLog }: ServerSource): Promise<Log> {
  const log = createLog(project.config, onLog);
  return redactorOf(project, {}) === undefined ? log : redactLog(log, await createRecordRedactor(project));
}

export async function withMcpTools<T>(
  source: ServerSource,
  what: string,
  work: (mcpTools: McpTools, project: Project) => Promise<T>,
): Promise<T> {
  await using project = await openProject(source);
  const log = await openLog(project, source);
  const mcpTools = await openMcpTools(project, { log });
  try {
    return await logged(log, what, () => work(mcpTools, project));
  } finally {
    await mcpTools.close();
  }
}

/**
 * Writes the files of MCP servers' tools.
 *
 * @throws CemError `SERVER_NOT_FOUND` for a name that is not configured, `CONFIG_INVALID`.
 */
export function generateTools(source: ServerSource & GenerateOptions = {}): Promise<GeneratedServer[]> {
  return withMcpTools(source, "generating tool files", async (mcpTools, configuration) => {
    const generated = await mcpTools.generate(source);
    if (generated.some(({ state }) => state !== "error")) await layFilesFor(configuration);
    return generated.map((server) => ({ ...server, error: withHint(server.error) }));
  });
}

/** Writes what editors need next to the generated tools; in a folder outside the project, only the client module. */
export async function layFilesFor({ config, trust }: LoadedConfig): Promise<void> {
  const root = path.dirname(config.execution.serversDir);
  const isProject = (await realpath(root).catch(() => root)) === trust.folder;
  // The tools work without these files.
  await layProjectFiles(root, isProject ? undefined : "client").catch(() => {});
}

/** Tries the configured MCP servers, and reports the state of each. */
export function inspectServers(source: ServerSource = {}): Promise<ExaminedServer[]> {
  return withMcpTools(source, "examining servers", (mcpTools) => examineServers(mcpTools, source.signal));
}

/** Tries MCP servers that are open already. */
export async function examineServers(mcpTools: McpTools, signal?: AbortSignal): Promise<ExaminedServer[]> {
  const examined = await mcpTools.examine({ signal });
  return examined.map((server) => ({ ...server, lastError: withHint(server.lastError) }));
}

function withHint(error: ErrorInfo | undefined): ErrorInfo | undefined {
  return error && { ...error, hint: hintFor(error) };
}

/**
 * Lists all tools, as an agent with the same configuration finds them. MCP servers are contacted first, so that tools that
 * can't be called are marked. A server that does not answer within 4 s is assumed to be available.
 *
 * @param source - With `only`, no other server is contacted.
 */
export function listCatalog(
  source: ServerSource & { only?: string | undefined } = {},
): Promise<CatalogSnapshot> {
  const { only, signal } = source;
  return withMcpTools(source, "listing tools", async (mcpTools, configuration) => {
    if (only === undefined || mcpTools.servers.has(only))
      await mcpTools.examine({ signal, only, timeoutMs: LIST_TIMEOUT_MS });
    const catalog = await createListedCatalog(configuration, mcpTools);
    const servers = only === undefined ? undefined : [path.basename(await mcpTools.folderOf(only))];
    const listed = await catalog.list({ signal, servers });
    const explained = listed.servers.map((server) => ({
      ...server,
      tools: server.tools.map((tool) => ({ ...tool, unavailable: withHint(tool.unavailable) })),
    }));
    return { ...listed, servers: explained };
  });
}

/**
 * Signs in to an MCP server through the browser and keeps the sign-in for later.
 *
 * @throws CemError `AUTH_FAILED`, `SERVER_NOT_FOUND`.
 */
export function signIn(
  server: string,
  options: ServerSource & { openBrowser: (url: string) => void | Promise<void> },
): Promise<void> {
  const { openBrowser, signal } = options;
  return withMcpTools(options, `signing in to ${server}`, async (mcpTools) => {
    const connections = await mcpTools.connectionsFor(server);
    await connections.authorize(server, { openBrowser, signal });
  });
}

/** Size of a server's list of tools, in tokens of the client's model. */
export const measureTokenCost: typeof McpServer.measureTokenCost = async (...args) =>
  (await import("@cem/mcp-server")).measureTokenCost(...args);

/** Size of the list if it contained every tool of the agent, in tokens. */
export const measureDirectCost: typeof McpServer.measureDirectCost = async (...args) =>
  (await import("@cem/mcp-server")).measureDirectCost(...args);

/** The beginning of the code of a tool that is a file in the project. */
export const readToolCode: typeof McpServer.readToolCode = async (...args) =>
  (await import("@cem/mcp-server")).readToolCode(...args);
