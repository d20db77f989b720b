import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { createStateStore } from "@cem/workspace";
import type { JsonValue } from "code-execution-mcp";
import { interleaved, rounded } from "./measure.ts";
import type { Table } from "./table.ts";
import { withFolder } from "./workspace.ts";

const MIB = 2 ** 20;
/** Names of sizes and how many rows make them. A row is about 100 bytes of JSON. */
const SIZES: Readonly<Record<string, number>> = { "1 KiB": 10, "1 MiB": 10_000, "50 MiB": 500_000 };

/** Saving and loading state against plain files of the same JSON. */
export async function measureState(rounds: number): Promise<Table> {
  const rows: Table["rows"] = [];
  for (const [name, count] of Object.entries(SIZES)) {
    await withFolder(async (workspaceDir) => {
      const data = rowsOf(count);
      const store = createStateStore({ workspaceDir });
      const plain = path.join(workspaceDir, "plain.json");
      const samples = await interleaved(
        {
          "plain save": () => writeFile(plain, JSON.stringify(data), { flush: true }),
          "plain load": async () => JSON.parse(await readFile(plain, "utf8")) as unknown,
          save: () => store.save(data),
          load: () => store.read(),
        },
        count > 100_000 ? Math.min(rounds, 5) : rounds,
      );
      const median = (subject: string): number => samples.get(subject)?.median ?? NaN;
      const peak = process.memoryUsage.rss() / MIB;
      rows.push([
        name,
        ...["save", "plain save", "load", "plain load"].map((subject) => rounded(median(subject))),
        rounded(median("save") / median("plain save")),
        rounded(median("load") / median("plain load")),
        rounded(peak),
      ]);
    });
  }
  return {
    title:
      "State, ms. Plain files are written without a temporary file, a lock or a version, and reach the disk, too",
    columns: ["state", "save", "plain", "load", "plain", "save ratio", "load ratio", "process, MiB"],
    rows,
  };
}

function rowsOf(count: number): JsonValue {
  return Array.from({ length: count }, (_, id) => ({
    id,
    name: `customer number ${id}`,
    tags: ["alpha", "beta"],
    total: id * 1.25,
    note: "nothing in particular",
  }));
}
