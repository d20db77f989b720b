import { hash } from "node:crypto";
import { toolId, type ToolDefinition } from "@cem/core";
import { parseProgram } from "@cem/program";
import { workspacePathOf } from "./skill-draft.ts";

const DIGEST_CHARACTERS = 16;
const MODULE_FOLDER = /^(servers|skills)\/([^/]+)/u;

/** The tools that code imports, in the order of the catalog. None for code that can't be parsed. */
export function toolsUsedBy(code: string, tools: readonly ToolDefinition[]): ToolDefinition[] {
  const parsed = parseProgram(code);
  if (!parsed.ok) return [];
  const folderOf = (specifier: string): string | undefined =>
    MODULE_FOLDER.exec(workspacePathOf(specifier) ?? "")?.[0];
  const used = Map.groupBy(parsed.program.imports, ({ specifier }) => folderOf(specifier));
  return tools.filter(({ name, module }) => {
    const folder = folderOf(module);
    const imports = (folder !== undefined && used.get(folder)) || [];
    return imports.some(({ names }) => names.some(({ imported }) => imported === "*" || imported === name));
  });
}

/** A digest of what code can rely on in a tool. It changes when the tool does. */
export function toolDigest({ signature, description, inputSchema, outputSchema }: ToolDefinition): string {
  const definition = JSON.stringify([signature, description, inputSchema, outputSchema ?? null]);
  return hash("sha256", definition, "hex").slice(0, DIGEST_CHARACTERS);
}

/** Formats tools as `server.tool@digest …` for a SKILL.md. */
export function formatToolDigests(tools: readonly ToolDefinition[]): string {
  return tools.map((tool) => `${toolId(tool)}@${toolDigest(tool)}`).join(" ");
}

/** Parses the output of {@link formatToolDigests} into digests by tool. */
export function parseToolDigests(text: string): Map<string, string> {
  const digests = new Map<string, string>();
  for (const each of text.split(/\s+/u)) {
    const at = each.lastIndexOf("@");
    if (at > 0) digests.set(each.slice(0, at), each.slice(at + 1));
  }
  return digests;
}

/** The tools that were removed or changed since their digests were taken. */
export function changedTools(digests: ReadonlyMap<string, string>, tools: readonly ToolDefinition[]) {
  const now = new Map(tools.map((tool) => [toolId(tool), tool] as const));
  return [...digests.keys()].filter((id) => {
    const tool = now.get(id);
    return tool === undefined || toolDigest(tool) !== digests.get(id);
  });
}
