import type * as MigratePackage from "@cem/migrate";

/** Reads a project of the Python original and says what moving it over comes to. Changes nothing. */
export const planMigration: typeof MigratePackage.planMigration = async (project) =>
  (await import("@cem/migrate")).planMigration(project);

/** Writes the files of a migration; what is there stays as it is. */
export const writeMigration: typeof MigratePackage.writeMigration = async (migration) =>
  (await import("@cem/migrate")).writeMigration(migration);

/** What the files of a migration change, as unified diffs. */
export async function diffsOf(files: readonly MigratePackage.MigratedFile[]): Promise<string[]> {
  const { diffOf } = await import("@cem/migrate");
  return files.map(diffOf);
}
