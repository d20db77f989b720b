import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { replaceFile } from "@cem/core/files";
import * as z from "zod/mini";
import type { Variables } from "../variables.ts";
import { TRUST_KINDS, type TrustItem } from "./trust-item.ts";

const item = z.object({
  kind: z.enum(TRUST_KINDS),
  name: z.string(),
  text: z.string(),
  files: z.array(z.string()),
  digest: z.string(),
});
const record = z.object({
  version: z.literal(1),
  folders: z.record(z.string(), z.object({ trustedAt: z.string(), items: z.array(item) })),
});

/** What the user trusted, by the real path of the folder. */
export type TrustRecord = z.output<typeof record>;

const NOTHING: TrustRecord = { version: 1, folders: {} };
const OTHERS_WRITE = 0o022;

/** The folder of the user's settings for all projects. */
export function userConfigFolder(env: Variables): string {
  const base = process.platform === "win32" ? env["APPDATA"] : env["XDG_CONFIG_HOME"];
  // A relative one would be another in every folder.
  return join(base !== undefined && isAbsolute(base) ? base : join(homedir(), ".config"), "cem");
}

/** The file that holds what the user trusted. */
export function trustFile(env: Variables): string {
  return join(userConfigFolder(env), "trust.json");
}

/** Reads what the user trusted. A file that is broken, a link, or that others can write counts as empty. */
export async function readTrust(file: string): Promise<TrustRecord> {
  try {
    await using handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const { mode, uid } = await handle.stat();
    const own = process.getuid?.();
    if (own !== undefined && (uid !== own || (mode & OTHERS_WRITE) !== 0)) return NOTHING;
    return record.parse(JSON.parse(await handle.readFile("utf8")));
  } catch {
    return NOTHING;
  }
}

/** Adds items to what is trusted of a folder, in place of those of the same kind and name. */
export async function addTrust(file: string, folder: string, items: readonly TrustItem[]): Promise<void> {
  const { folders } = await readTrust(file);
  const fresh = new Set(items.map(keyOf));
  const kept = (folders[folder]?.items ?? []).filter((one) => !fresh.has(keyOf(one)));
  const all = [...kept, ...items].map(({ kind, name, text, files, digest }) => ({
    kind,
    name,
    text,
    files: [...files],
    digest,
  }));
  await write(file, { ...folders, [folder]: { trustedAt: new Date().toISOString(), items: all } });
}

/** @returns whether the folder was trusted. */
export async function removeTrust(file: string, folder: string): Promise<boolean> {
  const { folders } = await readTrust(file);
  if (!Object.hasOwn(folders, folder)) return false;
  await write(file, Object.fromEntries(Object.entries(folders).filter(([name]) => name !== folder)));
  return true;
}

async function write(file: string, folders: TrustRecord["folders"]): Promise<void> {
  await replaceFile(file, `${JSON.stringify({ version: 1, folders }, undefined, 2)}\n`);
}

export function keyOf({ kind, name }: Pick<TrustItem, "kind" | "name">): string {
  return `${kind} ${name}`;
}
