import type { Config } from "@cem/config";
import { calledTool, Lazy } from "@cem/core";
import type { Guard, SandboxSpec, ToolCatalog, TypeChecker, ToolDefinition, ToolServer } from "@cem/core";
import type { FindOrders, ReviewRule } from "@cem/guardrails";
import type { McpTools } from "@cem/mcp-client/tools";
import { offloadReview } from "../../work-threads/offloaded-review.ts";
import type { CallGuards } from "../calls/call-guards.ts";
import type { Project } from "../project.ts";
import { hasSkills } from "../skills.ts";

/**
 * The catalog of the tools in the configured folders. Tools of MCP servers that can't be called are marked.
 *
 * @param hostTools - Names of tools that run on the host, by server, which skills may import.
 */
export async function createConfiguredCatalog(
  { config: { execution, optimizations }, owner }: Pick<Project, "config" | "owner">,
  mcpTools: McpTools,
  hostTools: SandboxSpec["hostTools"],
): Promise<ToolCatalog> {
  const { createDiscovery } = await import("@cem/discovery");
  const { serversDir, skillsDir } = execution;
  const { enabled, parallelDiscovery, toolCache, toolCacheFile } = optimizations;
  const discovery = createDiscovery({
    serversDir,
    skillsDir,
    hostTools,
    parallel: enabled && parallelDiscovery,
    cacheFile: enabled && toolCache ? toolCacheFile : undefined,
    // The cache file is shared by all owners.
    cacheSkills: owner === undefined,
    readListed: (folder) => mcpTools.readListed(folder),
  });
  return mcpTools.withAvailability(discovery);
}

/** Bounds of the type check's timeout, which follows that of runs, in milliseconds. */
const MIN_CHECK_TIMEOUT_MS = 2_000;
const MAX_CHECK_TIMEOUT_MS = 10_000;

export async function createConfiguredTypeChecker({ execution, guardrails }: Config): Promise<TypeChecker> {
  const { createTypeChecker } = await import("@cem/type-check");
  const { serversDir, skillsDir } = execution;
  // The check may take no longer than the run itself.
  const timeoutMs = Math.max(
    MIN_CHECK_TIMEOUT_MS,
    Math.min(MAX_CHECK_TIMEOUT_MS, Math.ceil(guardrails.maxExecutionTime * 1000)),
  );
  return createTypeChecker({ serversDir, skillsDir, timeoutMs });
}

/** Signs that are common in harmless results: encoded data, comments in web pages, terminal colours. */
const COMMON_IN_RESULTS = new Set(["encoded-text", "html-comment", "control-characters", "off-screen-text"]);

const toolFiles = new Lazy(() => import("@cem/tool-files"));

/** Finds text that poses as instructions for a model. */
const findOrders: FindOrders = async (text) => {
  const { findSuspiciousText } = await toolFiles.get();
  const found = findSuspiciousText(text).map(({ rule }) => rule);
  return found.filter((rule) => !COMMON_IN_RESULTS.has(rule));
};

export async function createConfiguredGuard(
  { guardrails }: Config,
  { isAllowed }: Pick<CallGuards, "isAllowed">,
  rules?: readonly ReviewRule[],
): Promise<Guard> {
  const { enabled, blockedPatterns, securityChecks, contentFiltering, strictMode: strict } = guardrails;
  if (!enabled) return { specificationVersion: "v1", review: async () => ({ allowed: true, findings: [] }) };
  const { createGuard } = await import("@cem/guardrails");
  const { allowedTools, blockedTools } = guardrails;
  const guard = createGuard({
    blockedPatterns,
    securityChecks,
    strict,
    findOrders: contentFiltering ? findOrders : undefined,
    rules,
    isAllowed: (tool, ofRun) => isAllowed(calledTool(tool), { allowedTools: ofRun }),
  });
  // Rules passed in code are functions, which can't be run in another thread.
  if (rules !== undefined && rules.length > 0) return guard;
  return offloadReview(guard, { blockedPatterns, securityChecks, strict, allowedTools, blockedTools });
}

/**
 * Checks types for one owner. Owners without skills of their own share a checker, since each is a process of about 50 MB.
 *
 * @param skillsDir - The folder of the owner's skills, which may be added at any time.
 * @param own - The checker that knows them.
 */
export function ownedTypeChecker(
  skillsDir: string,
  { shared, own }: Record<"shared" | "own", Lazy<TypeChecker>>,
): TypeChecker {
  const checker = async (): Promise<TypeChecker> => ((await hasSkills(skillsDir)) ? own : shared).get();
  return {
    specificationVersion: "v1",
    check: async (request) => (await checker()).check(request),
    prepare: async () => (await checker()).prepare?.(),
    dispose: async () => (await own.settled())?.dispose(),
  };
}

/**
 * Marks the tools whose calls need a person's approval, so that the author of code knows before it runs.
 *
 * @param needsApproval - Resolves to the test of a tool, whose result must not change while the catalog is in use.
 */
export function markApprovals(
  catalog: ToolCatalog,
  needsApproval: () => Promise<(tool: ToolDefinition) => boolean>,
): ToolCatalog {
  // Indexes and prompts are cached by the identity of what is listed.
  const marked = new WeakMap<ToolServer, ToolServer>();
  return {
    specificationVersion: "v1",
    async list(options) {
      const snapshot = await catalog.list(options);
      // The approval rules are loaded only if there are tools they could apply to.
      if (snapshot.servers.length === 0) return snapshot;
      const needs = await needsApproval();
      const mark = (server: ToolServer): ToolServer => {
        const known = marked.get(server) ?? withMarks(server, needs);
        marked.set(server, known);
        return known;
      };
      return { ...snapshot, servers: snapshot.servers.map(mark) };
    },
  };
}

function withMarks(server: ToolServer, needs: (tool: ToolDefinition) => boolean): ToolServer {
  if (!server.tools.some(needs)) return server;
  return {
    ...server,
    tools: server.tools.map((tool) => (needs(tool) ? { ...tool, needsApproval: true } : tool)),
  };
}
