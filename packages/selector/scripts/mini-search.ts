import type { ToolDefinition } from "@cem/core";
import MiniSearch from "minisearch";

/** A plain library as it comes: what a few lines would give. */
export function createMiniSearch(
  tools: readonly ToolDefinition[],
  limit: number,
): (query: string) => string[] {
  const search = new MiniSearch<{ id: number; server: string; name: string; description: string }>({
    fields: ["server", "name", "description"],
  });
  search.addAll(tools.map(({ server, name, description }, id) => ({ id, server, name, description })));
  return (query) =>
    search
      .search(query)
      .slice(0, limit)
      .map(({ id }) => `${tools[Number(id)]?.server}/${tools[Number(id)]?.name}`);
}
