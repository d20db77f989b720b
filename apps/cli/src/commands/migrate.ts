import { CemError } from "@cem/core";
import { diffsOf, planMigration, writeMigration } from "code-execution-mcp/admin";
import { shellWord } from "@cem/core/text";
import type { Migration } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";
import { renderMigration } from "../render-migration.ts";
import { safeData } from "../safe-text.ts";

/** `cem migrate`: shows what moving a project of the Python original over comes to; with --write does it. */
export async function migrate(
  { folder, write }: InvocationOf<"migrate">,
  { signal }: CommandContext,
): Promise<Answer> {
  const migration = await planMigration(folder);
  signal.throwIfAborted();
  if (!migration.isProject) {
    throw new CemError(
      "FILE_NOT_FOUND",
      `${migration.folder} has nothing of the Python original: no config.yaml, no .env, no tools or skills in Python. A new project begins with: cem init`,
      { details: { path: migration.folder } },
    );
  }
  const made = write ? await attempt(migration) : [];
  const wanted = migration.files.filter(({ isThere }) => !isThere);
  const diffs = write ? [] : await diffsOf(wanted);
  const next = nextSteps(migration, write, folder);
  const files = migration.files.map(({ file, from, isThere }) => ({
    file,
    from,
    state: isThere ? "kept" : made.some((one) => one.file === file) ? "made" : "planned",
  }));
  const { changes, works, left, servers } = migration;
  return {
    exitCode: EXIT_OK,
    data: { status: "success", dir: migration.folder, files, changes, works, left, servers, diffs, next },
    report: (style) =>
      renderMigration(safeData({ files, changes, works, left, servers, diffs, next }), style),
    brief: () =>
      files
        .filter(({ state }) => state !== "kept")
        .map(({ file }) => file)
        .join("\n"),
  };
}

async function attempt(migration: Migration): ReturnType<typeof writeMigration> {
  try {
    return await writeMigration(migration);
  } catch (cause) {
    const { code = "", message, path = migration.folder } = cause as NodeJS.ErrnoException;
    throw new CemError("NOT_WRITABLE", `${path} could not be made: ${message}`, {
      details: { path, reason: code },
      cause,
    });
  }
}

function nextSteps({ files, servers }: Migration, isWritten: boolean, folder: string): string[] {
  const config = files.find(({ before }) => before !== undefined)?.file;
  if (!isWritten) {
    const isNew = files.some(({ isThere }) => !isThere);
    return isNew ? [`cem migrate ${folder === "." ? "" : `${shellWord(folder)} `}--write`] : [];
  }
  const place = folder === "." ? [] : [`cd ${shellWord(folder)}`];
  const missing = servers.filter(({ isConfigured }) => !isConfigured);
  const known = servers.filter(({ isConfigured }) => isConfigured);
  return [
    ...place,
    ...(config === undefined ? [] : [`mv config.yaml config.python.yaml && mv ${config} config.yaml`]),
    ...missing.map(({ name }) => `cem add ${shellWord(name)} -- <its command>`),
    ...(known.length === 0 ? [] : [`cem generate ${known.map(({ name }) => shellWord(name)).join(" ")}`]),
    "cem init",
    "cem doctor",
  ];
}
