import type { CatalogSnapshot, ToolDefinition } from "@cem/core";
import type { RunContext } from "./run-context.ts";

/** The stage `discover`: reads the catalog. */
export async function discover({ stages, signal, progress }: RunContext): Promise<CatalogSnapshot> {
  const list = async (): Promise<CatalogSnapshot> => (await stages.catalog.get()).list({ signal });
  const { result: catalog, ms } = await progress.stage("discover", list);
  const skills = catalog.servers.filter(({ kind }) => kind === "skill").length;
  progress.emit({
    type: "discovered",
    servers: catalog.servers.length - skills,
    tools: toolsOf(catalog).filter(({ kind }) => kind !== "skill").length,
    skills,
    problems: catalog.problems.length,
    ms,
  });
  return catalog;
}

export function toolsOf({ servers }: CatalogSnapshot): ToolDefinition[] {
  return servers.flatMap(({ tools }) => tools);
}

/** The tools that can be called. */
export function callable(all: readonly ToolDefinition[]): ToolDefinition[] {
  return all.filter(({ unavailable }) => unavailable === undefined);
}
