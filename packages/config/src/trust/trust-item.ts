import { createHash } from "node:crypto";

/** Something on the host that files of a folder ask for, and that needs a yes of the user. */
export interface TrustItem {
  kind: TrustKind;
  /** What it is called there: `github`, `crm.find_customer`, `execution.workspace_dir`, a path. */
  name: string;
  /** What it does, on one line and without values that could be secrets. */
  text: string;
  /** Files of the folder that decide what it does, relative to the folder. */
  files: readonly string[];
  /** Those of them that no setting names: they are there, and change what a command runs. */
  implicitFiles?: readonly string[] | undefined;
  /** SHA-256 of all that decides what it does, in hexadecimal. */
  digest: string;
}

/**
 * The kinds of items. `server`: an MCP server. `host-tool`: a file that runs on the host. `plugin`: a module that runs in
 * this process. `mount` and `path`: a place outside of the folder. `key`: a key of the user for an address that the folder
 * names. `setting`: a setting that could do harm.
 */
export const TRUST_KINDS = ["server", "host-tool", "plugin", "mount", "path", "key", "setting"] as const;

export type TrustKind = (typeof TRUST_KINDS)[number];

/** An item that is held back. */
export interface HeldItem extends TrustItem {
  /** The item of this name as it was trusted before it changed. */
  before?: TrustItem | undefined;
}

/** Makes an item; its digest is made of everything given. */
export function trustItem(
  { kind, name, text }: Pick<TrustItem, "kind" | "name" | "text">,
  decides: unknown,
  files: ReadonlyMap<string, string> = new Map(),
): TrustItem {
  const sorted = [...files].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const digest = createHash("sha256")
    .update(JSON.stringify([kind, name, decides, sorted]))
    .digest("hex");
  return { kind, name, text, files: sorted.map(([file]) => file), digest };
}
