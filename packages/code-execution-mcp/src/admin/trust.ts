import path from "node:path";
import type { HeldItem, LoadedConfig, TrustItem, TrustRecord } from "@cem/config";
import type { ServerSource } from "../options.ts";
import { logFileWarnings } from "../wiring/log.ts";
import { loadConfig } from "../wiring/open-project.ts";

/** Host access that the files of a folder request. */
export interface TrustReport {
  /** The real path of the folder. */
  folder: string;
  requested: TrustItem[];
  /** Requests that are blocked until the folder is trusted. */
  held: HeldItem[];
  /** Ignored parts of the configuration with the reason, one sentence each. */
  warnings: string[];
}

/**
 * Lists the host access that files of a folder request. Imports and starts nothing.
 *
 * @param workflow - The file of a workflow that is to be run.
 */
export async function inspectTrust(source: ServerSource = {}, workflow?: string): Promise<TrustReport> {
  const { cwd, configFile: file, config: overrides } = source;
  const loaded = await loadConfig({ cwd, file, overrides, trustFolder: false });
  const { findHostToolFiles } = await import("@cem/mcp-client/tools");
  const files = await findHostToolFiles(loaded.config.execution.serversDir);
  const { folder, requested, held } = loaded.trust;
  const named = workflow === undefined ? [] : [path.resolve(loaded.folder, workflow)];
  const tools = await Promise.all([
    ...files.map(({ server, name, file }) => loaded.trust.hostTool(`${server}.${name}`, file)),
    ...named.map((file) => loaded.trust.hostTool(file, file)),
  ]);
  return {
    folder,
    requested: [...requested, ...tools.map(({ item }) => item)],
    held: [...held, ...tools.map((tool) => tool.held).filter((item) => item !== undefined)],
    warnings: [...loaded.warnings, ...logFileWarnings(loaded)],
  };
}

/** Trusts what was shown: when any of it changes, it is held back again. */
export async function trustItems(folder: string, items: readonly TrustItem[]): Promise<void> {
  const { addTrust, trustFile } = await import("@cem/config");
  await addTrust(trustFile(process.env), folder, items);
}

/**
 * Trusts the servers that the user has just written to the configuration. One is not trusted whose command is changed by
 * files that were there already and that nobody named.
 */
export async function trustServers({ trust }: LoadedConfig, names: readonly string[]): Promise<void> {
  const own = trust.requested.filter(
    ({ kind, name, implicitFiles = [] }) =>
      kind === "server" && names.includes(name) && implicitFiles.length === 0,
  );
  if (own.length > 0) await trustItems(trust.folder, own);
}

/** Takes back that a folder is trusted. `false`: it was not. */
export async function untrustFolder(folder: string): Promise<boolean> {
  const { realPath, removeTrust, trustFile } = await import("@cem/config");
  return removeTrust(trustFile(process.env), realPath(path.resolve(folder)));
}

/** Trusted items, by folder. */
export async function listTrusted(): Promise<TrustRecord["folders"]> {
  const { readTrust, trustFile } = await import("@cem/config");
  return (await readTrust(trustFile(process.env))).folders;
}
