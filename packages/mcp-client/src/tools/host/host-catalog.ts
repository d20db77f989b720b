import { hash } from "node:crypto";
import type { HostToolDescription } from "@cem/bridge";
import type {
  ErrorInfo,
  CatalogSnapshot,
  ToolCatalog,
  ToolDefinition,
  ToolProblem,
  ToolServer,
} from "@cem/core";
import type { LoadedHostTools } from "./load-host-tools.ts";

/** Adds host tools to a catalog: to the server of that name if it exists, else as a new server. */
export function withHostTools(
  catalog: ToolCatalog,
  descriptions: readonly HostToolDescription[],
  { files, problems, held }: Pick<LoadedHostTools, "files" | "problems" | "held">,
): ToolCatalog {
  let tools: Promise<ToolDefinition[]> | undefined;
  const version = hash("sha256", JSON.stringify([descriptions, [...held]]), "base64url");
  let last: { from: CatalogSnapshot; merged: CatalogSnapshot } | undefined;
  return {
    specificationVersion: "v1",
    async list(options) {
      const from = await catalog.list(options);
      if (last?.from.version !== from.version || last.from.problems.length !== from.problems.length) {
        tools ??= toDefinitions(descriptions, files, held);
        last = { from, merged: merge(from, await tools, problems, version) };
      }
      return last.merged;
    },
  };
}

async function toDefinitions(
  descriptions: readonly HostToolDescription[],
  files: ReadonlyMap<string, string>,
  held: ReadonlyMap<string, ErrorInfo>,
): Promise<ToolDefinition[]> {
  if (descriptions.length === 0) return [];
  const { generateToolModule } = await import("@cem/tool-files");
  return descriptions.map((description) => {
    const { server, name } = description;
    const file = files.get(`${server}.${name}`);
    return {
      ...description,
      kind: "host",
      callStyle: "object",
      signature: generateToolModule(description, { server, identifier: name }).signature,
      module: `./servers/${server}/index.ts`,
      file,
      unavailable: held.get(`${server}.${name}`),
    };
  });
}

function merge(
  from: CatalogSnapshot,
  tools: readonly ToolDefinition[],
  problems: readonly ToolProblem[],
  version: string,
): CatalogSnapshot {
  const servers = new Map(from.servers.map((server) => [server.name, server]));
  const conflicts: ToolProblem[] = [];
  for (const tool of tools) {
    const made: ToolServer = { name: tool.server, description: "", kind: "host", tools: [] };
    const present = servers.get(tool.server) ?? made;
    const other = present.tools.find(({ name }) => name === tool.name);
    if (other !== undefined) {
      const message = `gives a second tool "${tool.name}"; the one that runs on the host is used.`;
      conflicts.push({ server: tool.server, file: other.file ?? tool.server, message });
    }
    const rest = present.tools.filter(({ name }) => name !== tool.name);
    servers.set(tool.server, { ...present, tools: [...rest, tool] });
  }
  return {
    servers: [...servers.values()],
    problems: [...from.problems, ...problems, ...conflicts],
    version: `${from.version}.${version}`,
  };
}
