import { constants } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { PlannedWrite } from "@cem/guardrails/calls";
import type { LoadedFor } from "./customer.ts";

/** A copy of the workspace, whose changes are told instead of kept. */
export interface ScratchWorkspace {
  /** The configuration with the copy in place of the workspace. */
  loaded: LoadedFor;
  /** Tells what changed, as writes of the server `workspace`, and removes the copy. */
  finish(onWrite: (write: PlannedWrite) => void): Promise<void>;
}

/** Makes a copy of the workspace for a dry run: code in the sandbox writes files without asking anyone. */
export async function createScratchWorkspace(loaded: LoadedFor): Promise<ScratchWorkspace> {
  const { workspaceDir } = loaded.config.execution;
  await (await loaded.sync?.get())?.fetch();
  const copy = await mkdtemp(path.join(os.tmpdir(), "cem-dry-run-"));
  const exists = await stat(workspaceDir).catch(() => undefined);
  if (exists !== undefined) {
    const mode = constants.COPYFILE_FICLONE;
    await cp(workspaceDir, copy, { recursive: true, verbatimSymlinks: true, mode });
  }
  const execution = { ...loaded.config.execution, workspaceDir: copy };
  return {
    loaded: { ...loaded, sync: undefined, config: { ...loaded.config, execution } },
    async finish(onWrite) {
      for (const write of await changesBetween(workspaceDir, copy)) onWrite(write);
      await rm(copy, { recursive: true, force: true });
    },
  };
}

async function changesBetween(before: string, after: string): Promise<PlannedWrite[]> {
  const [old, now] = await Promise.all([filesIn(before), filesIn(after)]);
  const writes: PlannedWrite[] = [];
  for (const [file, size] of now) {
    const isSame =
      old.get(file) === size && (await hasSameContent(path.join(before, file), path.join(after, file)));
    if (!isSame) writes.push({ server: "workspace", tool: "write_file", args: { path: file, bytes: size } });
  }
  for (const file of old.keys()) {
    if (!now.has(file)) writes.push({ server: "workspace", tool: "delete_file", args: { path: file } });
  }
  return writes;
}

/** The files below a folder with their sizes. */
async function filesIn(folder: string): Promise<Map<string, number>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const sized = await Promise.all(
    files.map(async (file) => [path.relative(folder, file), (await stat(file)).size] as const),
  );
  return new Map(sized.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function hasSameContent(one: string, other: string): Promise<boolean> {
  const [left, right] = await Promise.all([readFile(one), readFile(other)]);
  return left.equals(right);
}
