import { delimiter, relative, resolve } from "node:path";
import type { CemError } from "@cem/core";
import { TRUST_VARIABLE, type Variables, variableValue } from "../variables.ts";
import { digestFiles } from "./code-files.ts";
import { realPath } from "./places.ts";
import { type HeldItem, type TrustItem, trustItem } from "./trust-item.ts";
import { keyOf, readTrust, trustFile } from "./trust-store.ts";

const YES = new Set(["1", "true", "yes", "on"]);

/** What files of a folder ask for on the host, and which of it the user allowed. */
export interface FolderTrust {
  /** The real path of the folder. */
  readonly folder: string;
  /** What the settings in files of the folder ask for. */
  readonly requested: readonly TrustItem[];
  /** What of it is held back. */
  readonly held: readonly HeldItem[];
  /** Why nothing can run before the folder is trusted: its workspace or its tools are a link out of it. */
  readonly obstacle?: CemError | undefined;
  /** What a file that runs on the host asks for, and whether it is held back. */
  hostTool(name: string, file: string): Promise<{ item: TrustItem; held: HeldItem | undefined }>;
}

export interface FolderTrustSettings {
  folder: string;
  env: Variables;
  /** Whether everything is allowed: the program that runs says so. */
  isAllowed: boolean;
  /** Whether files that run on the host are allowed: the program that runs named where they are. */
  allowsHostTools: boolean;
  requested: readonly TrustItem[];
}

/** Tells what of a folder is trusted: by the program, by `CEM_TRUST_FOLDER`, or as recorded for exactly what it is now. */
export async function openFolderTrust(settings: FolderTrustSettings): Promise<FolderTrust> {
  const { env, requested } = settings;
  const folder = realPath(settings.folder);
  const isAllowed = settings.isAllowed || isTrustedByEnvironment(folder, env);
  let known: Promise<ReadonlyMap<string, TrustItem>> | undefined;
  const load = async (): Promise<ReadonlyMap<string, TrustItem>> => {
    const { folders } = await readTrust(trustFile(env));
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
    held: holdSettingsTogether(
      requested,
      found.filter((item) => item !== undefined),
    ),
    async hostTool(name, file) {
      const files = digestFiles(folder, [file]);
      // Outside of the folder the file is known by its place and content alone.
      const own = files.size > 0 ? files : digestFiles(realPath(resolve(file, "..")), [file]);
      const text = `runs ${relative(folder, realPath(file))}`;
      const item = trustItem({ kind: "host-tool", name, text }, realPath(file), own);
      return { item, held: isAllowed || settings.allowsHostTools ? undefined : await heldOf(item) };
    },
  };
}

/** Settings act together: where one is held back, all are. */
function holdSettingsTogether(requested: readonly TrustItem[], held: readonly HeldItem[]): HeldItem[] {
  if (!held.some(({ kind }) => kind === "setting")) return [...held];
  return requested.flatMap((item) => {
    const found = held.find((one) => keyOf(one) === keyOf(item));
    return found ?? (item.kind === "setting" ? { ...item, before: item } : []);
  });
}

/** Whether the environment trusts a folder, by `CEM_TRUST_FOLDER`: a yes for all folders, or a list of them. */
function isTrustedByEnvironment(folder: string, env: Variables): boolean {
  const said = variableValue(env, TRUST_VARIABLE);
  if (said === undefined) return false;
  return (
    YES.has(said.toLowerCase()) ||
    said.split(delimiter).some((one) => one !== "" && realPath(resolve(one)) === folder)
  );
}
