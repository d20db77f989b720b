import type { ToolCatalog, ToolDefinition, ToolServer } from "@cem/core";

/**
 * Marks the tools whose calls wait for a person's yes, so that whoever writes code knows before it runs.
 *
 * @param needsApproval - Resolves to the test of a tool, which gives the same for as long as the catalog is used.
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
      // The rules of approvals are loaded where there are tools that they could be about.
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
