import * as z from "zod/mini";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join, relative, resolve } from "node:path";
import type { CemError } from "@cem/core";
import { openUnfollowed, replaceFile } from "@cem/core/files";
import { editInTurn } from "../config-file.ts";
import { TRUST_VARIABLE, variableValue } from "../environment.ts";
import type { Variables } from "../environment.ts";
import { TRUST_KINDS } from "../schema/risk.ts";
import { trustItem } from "./items.ts";
import type { HeldItem, TrustItem } from "./items.ts";
import { digestFiles, realPath } from "./places.ts";

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

/** Trusted items, by the real path of the folder. */
export type TrustRecord = z.output<typeof record>;

const NOTHING: TrustRecord = { version: 1, folders: {} };
const OTHERS_WRITE = 0o022;

/** The folder of the user's settings for all projects. */
export function userConfigFolder(env: Variables): string {
  const base = process.platform === "win32" ? env["APPDATA"] : env["XDG_CONFIG_HOME"];
  // A relative path would mean a different folder everywhere.
  return join(base !== undefined && isAbsolute(base) ? base : join(homedir(), ".config"), "cem");
}

/** The file that holds what the user trusted. */
export function trustFile(env: Variables): string {
  return join(userConfigFolder(env), "trust.json");
}

/** Reads what the user trusted. A file that is damaged, a link, or writable by others counts as empty: see `problem`. */
export async function readTrust(file: string): Promise<TrustRecord & { problem?: string | undefined }> {
  const unusable = (reason: string): TrustRecord & { problem: string } => ({
    ...NOTHING,
    problem: `${file} ${reason}: no folder counts as trusted. Move it aside, and trust each folder again with  cem trust`,
  });
  try {
    await using handle = await openUnfollowed(file);
    const { mode, uid } = await handle.stat();
    const own = process.getuid?.();
    if (own !== undefined && (uid !== own || (mode & OTHERS_WRITE) !== 0))
      return unusable("belongs to another user, or others can write it");
    return record.parse(JSON.parse(await handle.readFile("utf8")));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT"
      ? NOTHING
      : unusable("is damaged or can't be read");
  }
}

/** Adds trusted items of a folder; replaces those of the same kind and name. */
export async function addTrust(file: string, folder: string, items: readonly TrustItem[]): Promise<void> {
  await editInTurn(file, async () => {
    const { folders } = await readTrust(file);
    const fresh = new Set(items.map(keyOf));
    const kept = (folders[folder]?.items ?? []).filter((one) => !fresh.has(keyOf(one)));
    const trusted = { trustedAt: new Date().toISOString(), items: [...kept, ...items] };
    await write(file, record.parse({ version: 1, folders: { ...folders, [folder]: trusted } }).folders);
  });
}

/** @returns whether the folder was trusted. */
export async function removeTrust(file: string, folder: string): Promise<boolean> {
  return editInTurn(file, async () => {
    const { folders } = await readTrust(file);
    if (!Object.hasOwn(folders, folder)) return false;
    await write(file, Object.fromEntries(Object.entries(folders).filter(([name]) => name !== folder)));
    return true;
  });
}

async function write(file: string, folders: TrustRecord["folders"]): Promise<void> {
  await replaceFile(file, `${JSON.stringify({ version: 1, folders }, undefined, 2)}\n`);
}

function keyOf({ kind, name }: Pick<TrustItem, "kind" | "name">): string {
  return `${kind} ${name}`;
}

const YES = new Set(["1", "true", "yes", "on"]);

/** Host access that files of a folder request, and which part of it the user allowed. */
export interface FolderTrust {
  /** The real path of the folder. */
  readonly folder: string;
  /** Access that settings in files of the folder request. */
  readonly requested: readonly TrustItem[];
  /** Requested items that are blocked. */
  readonly held: readonly HeldItem[];
  /** Why nothing can run before the folder is trusted: its workspace or its tools are a link to a place outside. */
  readonly obstacle?: CemError | undefined;
  /** Why the user's trust file can't be used, when something is blocked. */
  readonly problem?: string | undefined;
  /** Returns the item of a file that runs on the host, and whether it is blocked. */
  hostTool(name: string, file: string): Promise<{ item: TrustItem; held: HeldItem | undefined }>;
  /** Finds an optional package of this program that is installed for the folder, and whether it is blocked. */
  package(name: string): Promise<{ item: TrustItem; held: HeldItem | undefined; file: string } | undefined>;
}

export interface FolderTrustSettings {
  folder: string;
  env: Variables;
  /** Whether the running program allows everything. */
  isAllowed: boolean;
  /** Whether files that run on the host are allowed, because the running program named their location. */
  allowsHostTools: boolean;
  requested: readonly TrustItem[];
}

/** Finds what is trusted in a folder: by the program, `CEM_TRUST_FOLDER`, or a record of its exact current content. */
export async function openFolderTrust(settings: FolderTrustSettings): Promise<FolderTrust> {
  const { env, requested } = settings;
  const folder = realPath(settings.folder);
  const isAllowed = settings.isAllowed || isTrustedByEnvironment(folder, env);
  let known: Promise<ReadonlyMap<string, TrustItem>> | undefined;
  let unusable: string | undefined;
  const load = async (): Promise<ReadonlyMap<string, TrustItem>> => {
    const { folders, problem } = await readTrust(trustFile(env));
    unusable = problem;
    const items: readonly TrustItem[] = Object.hasOwn(folders, folder) ? (folders[folder]?.items ?? []) : [];
    return new Map(items.map((item) => [keyOf(item), item]));
  };
  const heldOf = async (item: TrustItem): Promise<HeldItem | undefined> => {
    const before = (await (known ??= load())).get(keyOf(item));
    return before?.digest === item.digest ? undefined : { ...item, before };
  };
  const found = isAllowed ? [] : await Promise.all(requested.map(heldOf));
  return {
    folder,
    requested,
    problem: unusable,
    held: holdSettingsTogether(
      requested,
      found.filter((item) => item !== undefined),
    ),
    async hostTool(name, file) {
      const files = digestFiles(folder, [file]);
      // Outside the folder, only the path and the content identify the file.
      const own = files.size > 0 ? files : digestFiles(realPath(resolve(file, "..")), [file]);
      const text = `runs ${relative(folder, realPath(file))}`;
      const item = trustItem({ kind: "host-tool", name, text }, realPath(file), own);
      return { item, held: isAllowed || settings.allowsHostTools ? undefined : await heldOf(item) };
    },
    async package(name) {
      const { findPackage } = await import("./plugins.ts");
      const found = findPackage(name, folder);
      return found && { ...found, held: isAllowed ? undefined : await heldOf(found.item) };
    },
  };
}

/** Settings act together: when one is held back, all are. */
function holdSettingsTogether(requested: readonly TrustItem[], held: readonly HeldItem[]): HeldItem[] {
  if (!held.some(({ kind }) => kind === "setting")) return [...held];
  return requested.flatMap((item) => {
    const found = held.find((one) => keyOf(one) === keyOf(item));
    return found ?? (item.kind === "setting" ? { ...item, before: item } : []);
  });
}

/** Whether the environment trusts a folder: `CEM_TRUST_FOLDER` allows all folders, or lists some. */
function isTrustedByEnvironment(folder: string, env: Variables): boolean {
  const said = variableValue(env, TRUST_VARIABLE);
  if (said === undefined) return false;
  return (
    YES.has(said.toLowerCase()) ||
    said.split(delimiter).some((one) => one !== "" && realPath(resolve(one)) === folder)
  );
}
