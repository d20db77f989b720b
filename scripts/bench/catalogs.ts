import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { createDiscovery, createSelector } from "code-execution-mcp/stages";
import type { ToolDefinition } from "code-execution-mcp";
import { interleaved, rounded, timed } from "./measure.ts";
import type { Table } from "./table.ts";
import { withFolder } from "./workspace.ts";

const VERBS = ["get", "list", "create", "update", "delete", "search", "export", "import", "archive", "count"];
const THINGS = [
  "invoice",
  "customer",
  "ticket",
  "order",
  "photo",
  "message",
  "flight",
  "payment",
  "report",
  "device",
];
const DETAILS = [
  "by_region",
  "for_team",
  "with_history",
  "in_bulk",
  "by_date",
  "as_draft",
  "for_owner",
  "per_month",
];
const TOOLS_PER_SERVER = 20;
const QUERIES = [
  "list the invoices of a customer",
  "delete old photos",
  "search flights by date",
  "count tickets per team",
];

/** Tools that are unlike each other, the same ones every time. */
function toolSource(index: number): { name: string; source: string } {
  const verb = VERBS[index % VERBS.length];
  const thing = THINGS[Math.floor(index / VERBS.length) % THINGS.length];
  const detail = DETAILS[Math.floor(index / 100) % DETAILS.length];
  const name = `${verb}_${thing}_${detail}_${index}`;
  const source = `/** Input of ${name}. */
export interface Input {
  /** Which ${thing}. */
  ${thing}_id: string;
  /** How many at most. */
  limit?: number;
}

/**
 * ${verb} ${thing} records ${detail?.replaceAll("_", " ")}.
 * @returns The ${thing} records.
 */
export async function ${name}(input: Input): Promise<{ id: string; count: number }[]> {
  return [{ id: input.${thing}_id, count: input.limit ?? 1 }];
}
`;
  return { name, source };
}

export async function writeCatalog(folder: string, size: number): Promise<void> {
  const files: Promise<void>[] = [];
  for (let index = 0; index < size; index += 1) {
    const server = path.join(folder, "servers", `server_${Math.floor(index / TOOLS_PER_SERVER)}`);
    await mkdir(server, { recursive: true });
    const { name, source } = toolSource(index);
    files.push(writeFile(path.join(server, `${name}.ts`), source));
  }
  await Promise.all(files);
}

/** Discovery and search over catalogs of growing size. */
export async function measureCatalogs(sizes: readonly number[], rounds: number): Promise<Table> {
  const rows: Table["rows"] = [];
  for (const size of sizes) {
    await withFolder(async (folder) => {
      await writeCatalog(folder, size);
      const settings = { serversDir: path.join(folder, "servers"), skillsDir: path.join(folder, "skills") };
      const cached = { ...settings, cacheFile: path.join(folder, "cache.json") };
      const cold = await timed(() => createDiscovery(cached).list());
      const snapshot = await createDiscovery(cached).list();
      const tools: ToolDefinition[] = snapshot.servers.flatMap((server) => server.tools);
      const selector = createSelector();
      const index = await timed(() => selector.search({ task: QUERIES[0] ?? "", tools }));
      let query = 0;
      const same = createDiscovery(cached);
      await same.list();
      const times = await interleaved(
        {
          "new process, cached": () => createDiscovery(cached).list(),
          "same process": () => same.list(),
          search: () => selector.search({ task: QUERIES[query++ % QUERIES.length] ?? "", tools }),
        },
        rounds,
      );
      const median = (name: string): string => rounded(times.get(name)?.median ?? NaN);
      rows.push([
        String(tools.length),
        rounded(cold),
        median("new process, cached"),
        median("same process"),
        rounded(index),
        median("search"),
        rounded(times.get("search")?.p95 ?? NaN),
      ]);
    });
  }
  return {
    title: "Discovery and search, ms",
    columns: [
      "tools",
      "read all",
      "from cache",
      "again",
      "index and first search",
      "search p50",
      "search p95",
    ],
    rows,
  };
}
