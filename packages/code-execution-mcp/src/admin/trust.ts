import path from "node:path";
import type { LoadedConfig, TrustItem, TrustRecord } from "@cem/config";
import type { ServerSource } from "../options.ts";
import { logFileWarnings } from "../wiring/log.ts";
import { loadConfig } from "../wiring/open-project.ts";
import { packagesOfProject } from "../wiring/packages.ts";

/** Host access that the files of a folder request. */
export type TrustReport = Awaited<ReturnType<typeof inspectTrust>>;

/**
 * Lists the host access that files of a folder request. Imports and starts nothing.
 *
 * @param workflow - The file of the workflow to run.
 * @param all - Whether to list optional packages that are needed only for some runs.
 */
export async function inspectTrust(source: ServerSource = {}, workflow?: string, all = false) {
  const loaded = await loadConfig({ ...source, trustFolder: false });
  const { findHostToolFiles } = await import("@cem/mcp-client/tools");
  const files = await findHostToolFiles(loaded.config.execution.serversDir);
  const { folder, requested, held } = loaded.trust;
  const named = workflow === undefined ? [] : [path.resolve(loaded.folder, workflow)];
  const tools = await Promise.all([
    ...files.map(({ server, name, file }) => loaded.trust.hostTool(`${server}.${name}`, file)),
    ...named.map((file) => loaded.trust.hostTool(file, file)),
  ]);
  const found = [...tools, ...(await packagesOfProject(loaded, all))];
  return {
    /** The real path of the folder. */
    folder,
    requested: [...requested, ...found.map(({ item }) => item)],
    /** Requests that are blocked until the folder is trusted. */
    held: [...held, ...found.map((one) => one.held).filter((item) => item !== undefined)],
    /** Ignored parts of the configuration with the reason, one sentence each. */
    warnings: [...loaded.warnings, ...logFileWarnings(loaded)],
  };
}

/** Trusts the items that were shown. An item that changes is held back again. */
export async function trustItems(folder: string, items: readonly TrustItem[]): Promise<void> {
  const { addTrust, trustFile } = await import("@cem/config");
  await addTrust(trustFile(process.env), folder, items);
}

/**
 * Trusts the servers that the user has just written to the configuration, except those whose command is affected by
 * existing files that nobody named.
 */
export async function trustServers({ trust }: LoadedConfig, names: readonly string[]): Promise<void> {
  const own = trust.requested.filter(
    ({ kind, name, implicitFiles = [] }) =>
      kind === "server" && names.includes(name) && implicitFiles.length === 0,
  );
  if (own.length > 0) await trustItems(trust.folder, own);
}

/** Revokes the trust in a folder. Returns `false` if it was not trusted. */
export async function untrustFolder(folder: string): Promise<boolean> {
  const { realPath, removeTrust, trustFile } = await import("@cem/config");
  return removeTrust(trustFile(process.env), realPath(path.resolve(folder)));
}

/** Trusted items, by folder. */
export async function listTrusted(): Promise<TrustRecord["folders"]> {
  const { readTrust, trustFile } = await import("@cem/config");
  return (await readTrust(trustFile(process.env))).folders;
}
