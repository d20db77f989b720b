import type { Config } from "@cem/config";
import type { Guard, ToolCatalog, TypeChecker } from "@cem/core";
import type { McpTools } from "@cem/mcp-tools";

/** The catalog of the tools in the configured folders; those of MCP servers are marked where they can't be called. */
export async function createConfiguredCatalog(
  { execution, optimizations }: Config,
  mcpTools: McpTools,
): Promise<ToolCatalog> {
  const { createDiscovery } = await import("@cem/discovery");
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

export async function createConfiguredTypeChecker({
  execution,
  optimizations,
}: Config): Promise<TypeChecker> {
  const { createTypeChecker } = await import("@cem/type-check");
  const { serversDir, skillsDir } = execution;
  const { enabled, toolCache, searchCacheDir } = optimizations;
  const cacheDir = enabled && toolCache ? searchCacheDir : undefined;
  return createTypeChecker({ serversDir, skillsDir, cacheDir });
}

export async function createConfiguredGuard({ guardrails }: Config): Promise<Guard> {
  const { enabled, blockedPatterns, securityChecks, strictMode } = guardrails;
  if (!enabled) return { specificationVersion: "v1", review: async () => ({ allowed: true, findings: [] }) };
  const { createGuard } = await import("@cem/guardrails");
  return createGuard({ blockedPatterns, securityChecks, strict: strictMode });
}
