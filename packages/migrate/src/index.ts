export { diffOf } from "./diff.ts";
export { planMigration } from "./plan-migration.ts";
export { writeMigration } from "./write-migration.ts";
export type { CalledServer, LeftOver, MigratedFile, Migration } from "./migration.ts";
