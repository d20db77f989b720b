import { readdir } from "node:fs/promises";
import path from "node:path";
import { createAgent } from "code-execution-mcp";
import { createDenoSandboxProvider } from "code-execution-mcp/stages";
import { writeCatalog } from "./catalogs.ts";
import { interleaved, rounded } from "./measure.ts";
import type { Table } from "./table.ts";
import { withFolder } from "./workspace.ts";

const LEVELS = ["auto", "permissions"] as const;
const OLD = "old";
const TOOL = "get_invoice_by_region_0";
const CODE = `import { ${TOOL} } from "./servers/server_0/${TOOL}.ts";
export default (await ${TOOL}({ invoice_id: "1" })).length;`;

/** A customer's first run, of one that is new and of one that was there before, with many tools. */
export async function measureContentCache(tools: number, rounds: number): Promise<Table> {
  const rows: Table["rows"] = [];
  for (const isolation of LEVELS) {
    let level = "";
    await withFolder(async (folder) => {
      await writeCatalog(folder, tools);
      const firstRun = async (customer: string): Promise<void> => {
        const agent = createAgent({
          configFile: false,
          cwd: folder,
          customer,
          sandboxProvider: createDenoSandboxProvider({ isolation, standby: 1 }),
          // Their first runs, not their second ones.
          oneRun: true,
        });
        try {
          const result = await agent.executeCode(CODE);
          level = result.isolation?.level ?? "";
          if (result.value !== 1) throw new Error(JSON.stringify(result));
        } finally {
          await agent.dispose();
        }
      };
      await firstRun(OLD);
      let nth = 0;
      const samples = await interleaved(
        { new: () => firstRun(`new_${(nth += 1)}`), old: () => firstRun(OLD) },
        rounds,
      );
      const entries = await readdir(path.join(folder, "workspaces", "new_1"), { recursive: true });
      const [fresh, old] = [samples.get("new")?.median ?? NaN, samples.get("old")?.median ?? NaN];
      rows.push([level, rounded(fresh), rounded(old), rounded(fresh / old), String(entries.length)]);
    });
  }
  return {
    title: `A customer's first run with ${tools} tools, with its agent, ms`,
    columns: ["isolation", "new customer", "old customer", "ratio", "files of a new one"],
    rows,
  };
}
