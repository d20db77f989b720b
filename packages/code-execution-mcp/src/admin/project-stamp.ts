import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { loadConfig } from "../wiring/load.ts";
import type { ServerSource } from "./mcp-servers.ts";

/** With more files than these, finding out whether any changed would take longer than it saves. */
const MAX_FILES = 5_000;

/**
 * A digest of what an agent of a project is made of: its configuration from all sources, what is trusted, and the files of its
 * tools and skills.
 *
 * @returns `undefined` where an agent can't be made ahead of its use: something is held back until the folder is trusted, host
 *   tools would be kept from an earlier import, or there are too many files to look at.
 */
export async function stampProject(source: ServerSource): Promise<string | undefined> {
  const { cwd, configFile: file, config: overrides } = source;
  const { config, trust } = await loadConfig({ cwd, file, overrides, trustFolder: false });
  if (trust.obstacle !== undefined || trust.held.length > 0) return undefined;
  const { serversDir, skillsDir } = config.execution;
  const stamps: string[] = [JSON.stringify([config, trust.folder, trust.requested])];
  for (const folder of [serversDir, skillsDir]) {
    const files = await stampsIn(folder);
    if (files === undefined) return undefined;
    stamps.push(...files);
  }
  return createHash("sha256").update(stamps.join("\n")).digest("hex");
}

async function stampsIn(folder: string): Promise<string[] | undefined> {
  const names = await readdir(folder, { recursive: true }).catch((): string[] => []);
  if (names.length > MAX_FILES || names.some((name) => name.endsWith(".host.ts"))) return undefined;
  return Promise.all(
    names.map(async (name) => {
      const found = await stat(path.join(folder, name)).catch(() => undefined);
      return `${name} ${found?.ino} ${found?.size} ${found?.mtimeMs} ${found?.ctimeMs}`;
    }),
  );
}
