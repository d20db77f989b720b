import type { Config } from "@cem/config";
import type { Guard, ToolCatalog, TypeChecker } from "@cem/core";
import type { FindOrders, ReviewRule } from "@cem/guardrails";
import type { McpTools } from "@cem/mcp-tools";
import type { LoadedFor } from "./customer.ts";
import type { CallGuards } from "./call-guards.ts";

/** The catalog of the tools in the configured folders; those of MCP servers are marked where they can't be called. */
export async function createConfiguredCatalog(
  { config: { execution, optimizations }, customer }: Pick<LoadedFor, "config" | "customer">,
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
    // The file is everybody's.
    cacheSkills: customer === undefined,
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
  const { enabled, toolCache, fileContentCache, searchCacheDir } = optimizations;
  const cacheDir = enabled && toolCache && fileContentCache ? searchCacheDir : undefined;
  return createTypeChecker({ serversDir, skillsDir, cacheDir });
}

/** Signs that are common in honest results: encoded data, comments of web pages, colours of a terminal. */
const COMMON_IN_RESULTS = new Set(["encoded-text", "html-comment", "control-characters", "off-screen-text"]);

/** Finds texts that give orders to a model. */
const findOrders: FindOrders = async (text) => {
  const { findSuspiciousText } = await import("@cem/tool-files");
  const found = findSuspiciousText(text).map(({ rule }) => rule);
  return found.filter((rule) => !COMMON_IN_RESULTS.has(rule));
};

export async function createConfiguredGuard(
  { guardrails }: Config,
  { isAllowed }: Pick<CallGuards, "isAllowed">,
  rules?: readonly ReviewRule[],
): Promise<Guard> {
  const { enabled, blockedPatterns, securityChecks, contentFiltering, strictMode } = guardrails;
  if (!enabled) return { specificationVersion: "v1", review: async () => ({ allowed: true, findings: [] }) };
  const { createGuard } = await import("@cem/guardrails");
  return createGuard({
    blockedPatterns,
    securityChecks,
    strict: strictMode,
    findOrders: contentFiltering ? findOrders : undefined,
    rules,
    isAllowed: ({ server, name }, allowedTools) => isAllowed({ server, tool: name }, { allowedTools }),
  });
}
