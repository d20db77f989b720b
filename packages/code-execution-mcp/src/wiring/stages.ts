import type { Config } from "@cem/config";
import type { Guard, ToolCatalog, TypeChecker } from "@cem/core";
import { createDiscovery } from "@cem/discovery";
import { createGuard } from "@cem/guardrails";
import type { McpTools } from "@cem/mcp-tools";
import { createTypeChecker } from "@cem/type-check";

/** The catalog of the tools in the configured folders; those of MCP servers are marked where they can't be called. */
export function createConfiguredCatalog(
  { execution, optimizations }: Config,
  mcpTools: McpTools,
): ToolCatalog {
  const { serversDir, skillsDir } = execution;
  const { enabled, parallelDiscovery, toolCache, toolCacheFile } = optimizations;
  const discovery = createDiscovery({
    serversDir,
    skillsDir,
    parallel: enabled && parallelDiscovery,
    cacheFile: enabled && toolCache ? toolCacheFile : undefined,
    readListed: (folder) => mcpTools.readListed(folder),
  });
  return mcpTools.withAvailability(discovery);
}

export function createConfiguredTypeChecker({ execution, optimizations }: Config): TypeChecker {
  const { serversDir, skillsDir } = execution;
  const { enabled, toolCache, searchCacheDir } = optimizations;
  const cacheDir = enabled && toolCache ? searchCacheDir : undefined;
  return createTypeChecker({ serversDir, skillsDir, cacheDir });
}

export function createConfiguredGuard({ guardrails }: Config): Guard {
  const { enabled, blockedPatterns, securityChecks, strictMode } = guardrails;
  if (enabled) return createGuard({ blockedPatterns, securityChecks, strict: strictMode });
  return { specificationVersion: "v1", review: async () => ({ allowed: true, findings: [] }) };
}
