import type { Config } from "@cem/config";
import { CemError, serverNotFound } from "@cem/core";
import { nearest } from "@cem/core/text";
import type { ServerSource } from "../options.ts";
import { openProject } from "../wiring/open-project.ts";
import { toServerSettings } from "../wiring/servers/mcp-tools.ts";
import { listCatalog } from "./servers.ts";

type Transport = ReturnType<typeof toServerSettings>["transport"];
type Printed = { expression: string; imports: readonly string[] };

/**
 * Prints a typed client of an MCP server, from its tools as they were generated. Nothing is connected to. Values of the
 * configuration that may be secret are read from the environment by what is printed.
 *
 * @throws CemError `SERVER_NOT_FOUND`; `TOOL_NOT_GENERATED` where its tools were not generated.
 */
export async function emitClient(server: string, source: ServerSource = {}): Promise<string> {
  const { config } = await openProject(source);
  const setting = findServer(server, config);
  const { transport } = toServerSettings(setting, { minConnectTimeoutMs: 0 });
  const { servers } = await listCatalog({ ...source, only: server, triesServers: false });
  const { isServerRequest } = await import("@cem/mcp-client");
  const tools = (servers.find(({ name }) => name === server)?.tools ?? []).filter(
    // The tools that list resources and prompts are added by this project; the server itself has none of them.
    ({ kind, originalName }) => kind === "host" && !isServerRequest(originalName ?? ""),
  );
  if (tools.length === 0) {
    throw new CemError("TOOL_NOT_GENERATED", `No tools of server "${server}" are known yet.`, {
      details: { server },
    });
  }
  const { printClient } = await import("@cem/tool-files");
  return printClient({ server, tools, transport: printTransport(server, transport) });
}

function findServer(server: string, { mcpServers }: Config): Config["mcpServers"][number] {
  const found = mcpServers.find(({ name }) => name === server);
  if (found !== undefined) return found;
  const known = mcpServers.map(({ name }) => name);
  throw serverNotFound(server, { known, nearest: nearest(server, known)[0] });
}

function printTransport(server: string, transport: Transport): Printed {
  if (transport.kind === "stdio") {
    const { command, args = [], env = {}, cwd } = transport;
    const variables = Object.entries(env).map(
      ([name, value]) => `${JSON.stringify(name)}: ${textOf(value, name)}`,
    );
    const parts = [
      `command: ${textOf(command)}`,
      `args: [${args.map((arg) => textOf(arg)).join(", ")}]`,
      // Only further variables are named: the SDK passes on its default environment by itself.
      ...(variables.length === 0 ? [] : [`env: { ...getDefaultEnvironment(), ${variables.join(", ")} }`]),
      ...(cwd === undefined ? [] : [`cwd: ${textOf(cwd)}`]),
    ];
    const names = variables.length === 0 ? "" : "getDefaultEnvironment, ";
    return {
      expression: `new StdioClientTransport({ ${parts.join(", ")} })`,
      imports: [`import { ${names}StdioClientTransport } from "@modelcontextprotocol/client/stdio";`],
    };
  }
  const { kind, url, headers = {} } = transport;
  const name = kind === "sse" ? "SSEClientTransport" : "StreamableHTTPClientTransport";
  const given = Object.entries(headers).map(
    ([header, value]) => `${JSON.stringify(header)}: ${textOf(value, `${server}_${header}`)}`,
  );
  const options = given.length === 0 ? "" : `, { requestInit: { headers: { ${given.join(", ")} } } }`;
  return {
    expression: `new ${name}(new URL(${textOf(url)})${options})`,
    imports: [`import { ${name} } from "@modelcontextprotocol/client";`],
  };
}

const PLACEHOLDER = /\$\{(\w+)(?::-([^{}]*))?\}/gu;

/**
 * A text as an expression, with variables of the environment for its placeholders.
 *
 * @param variable - For a text that may be secret: where it is read from when it has no placeholder.
 */
function textOf(text: string, variable?: string): string {
  if (text.search(PLACEHOLDER) === -1) {
    return variable === undefined
      ? JSON.stringify(text)
      : variableOf(variable.replaceAll(/\W/gu, "_").toUpperCase());
  }
  const parts: string[] = [];
  let end = 0;
  for (const { 0: whole, 1: name = "", 2: otherwise, index } of text.matchAll(PLACEHOLDER)) {
    if (index > end) parts.push(JSON.stringify(text.slice(end, index)));
    parts.push(variableOf(name, otherwise));
    end = index + whole.length;
  }
  if (end < text.length) parts.push(JSON.stringify(text.slice(end)));
  return parts.join(" + ");
}

function variableOf(name: string, otherwise = ""): string {
  return `(process.env[${JSON.stringify(name)}] ?? ${JSON.stringify(otherwise)})`;
}
