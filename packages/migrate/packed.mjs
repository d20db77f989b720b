// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { diffOf, planMigration, writeMigration } from "@cem/migrate";

mkdirSync("old/servers/math", { recursive: true });
writeFileSync(
  "old/servers/math/add.py",
  'def add(a: int, b: int = 1) -> int:\n    """Adds."""\n    return a + b\n',
);
writeFileSync("old/config.yaml", "execution:\n  sandbox_type: microsandbox\n");
const migration = await planMigration("old");
assert.match(migration.files.map(diffOf).join("\n"), /\+ {2}sandbox_type: auto/);
await writeMigration(migration);
assert.match(
  readFileSync("old/servers/math/add.ts", "utf8"),
  /export async function add\(input: AddInput\): Promise<number>/,
);
