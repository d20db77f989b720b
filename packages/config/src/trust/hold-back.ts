import { CemError } from "@cem/core";
import { isWithin } from "@cem/core/files";
import { getPath, type Origin, setPath } from "../layer.ts";
import type { Config } from "../schema/schema.ts";
import { SECTIONS, SETTINGS } from "../settings.ts";
import type { FolderTrust } from "./folder-trust.ts";
import { realPath } from "./places.ts";
import type { HeldItem } from "./items.ts";

const MAX_NAMED = 8;
/** Settings that decide where a task is sent and with which key. */
const MODEL_DESTINATION = [
  "key llm.api_key",
  ...["provider", "api_key", "base_url", "azure_endpoint"].map((name) => `setting llm.${name}`),
];

export interface OwnConfig {
  config: Config;
  origins: Readonly<Record<string, Origin>>;
}

/**
 * Removes what is held back from a configuration: mounts are left out, paths and settings are as they are without the
 * folder, and no model is asked when its address or its key is held back. MCP servers and plugins stay, so that they
 * are listed; code that connects to them or loads them checks `trust.held`. With an `obstacle` it can't be used.
 */
export function withoutHeld(config: Config, own: OwnConfig, trust: FolderTrust) {
  const held = trust.held.filter(({ kind }) => kind !== "server" && kind !== "plugin");
  if (held.length === 0) return { config };
  const { execution } = config;
  const mounts = new Set(held.filter(({ kind }) => kind === "mount").map(({ name }) => name));
  const copy = copySections(config);
  copy.execution.mountDirectories = execution.mountDirectories.filter(({ guest }) => !mounts.has(guest));
  let obstacle: CemError | undefined;
  for (const item of held) {
    if (item.kind === "path") obstacle = setOwnPath(copy, item, own, trust.folder) ?? obstacle;
    if (item.kind === "setting") setOwn(copy, own.config, item.name);
  }
  const names = new Set(held.map(({ kind, name }) => `${kind} ${name}`));
  // An empty list would allow any host instead of some.
  if (names.has("setting guardrails.allowed_networks") && own.config.guardrails.allowedNetworks.length === 0)
    copy.execution.allowNetworkAccess = false;
  // The user's model must not replace one that the folder names: the task may not be meant for it.
  if (MODEL_DESTINATION.some((name) => names.has(name))) withoutModel(copy, own.config);
  if (names.has("key execution.msb_api_key")) delete copy.execution.msbServerUrl;
  return { config: copy, obstacle };
}

/** Copies the sections; the values in them are not changed. */
function copySections(config: Config): Config {
  const copy = { ...config };
  for (const { keys } of SECTIONS) setPath(copy, keys, { ...(getPath(config, keys) as object) });
  return copy;
}

/** Resets a setting to its value without the folder, plus the stricter part of the folder's value. */
function setOwn(config: Config, own: Config, path: string): void {
  const setting = SETTINGS.find((one) => one.path === path);
  if (setting === undefined) return;
  const { keys, strictPart } = setting;
  const [value, standard] = [getPath(config, keys), getPath(own, keys)];
  const isPartial = strictPart !== undefined && Array.isArray(value) && Array.isArray(standard);
  setPath(config, keys, isPartial ? strictPart(value, standard) : standard);
}

/** The origins of the values in use. Those of held-back settings say so. */
export function originsWithoutHeld(
  origins: Readonly<Record<string, Origin>>,
  own: OwnConfig["origins"],
  held: readonly HeldItem[],
): Record<string, Origin> {
  const used = { ...origins };
  for (const { kind, name } of held) {
    const [asked, instead] = [origins[name], own[name]];
    if (kind === "setting" && asked !== undefined && instead !== undefined)
      used[name] = { ...instead, label: `${instead.label} (${asked.label} is held back)` };
  }
  return used;
}

/** @returns why the setting can't be used, when its default leads out of the folder too. */
function setOwnPath(config: Config, { name, text }: HeldItem, own: OwnConfig, folder: string) {
  const setting = SETTINGS.find(({ path }) => path === name);
  if (setting === undefined) return undefined;
  const { execution } = config;
  if (name === "execution.state.workspace_dir") {
    execution.state.workspaceDir = execution.workspaceDir;
    return undefined;
  }
  const place = getPath(own.config, setting.keys);
  if (name === "execution.workspace_dir" && execution.state.workspaceDir === execution.workspaceDir)
    execution.state.workspaceDir = String(place);
  const isDefault = own.origins[name]?.from === "default";
  const isOutside = typeof place === "string" && setting.isPath(place) && !isWithin(folder, realPath(place));
  if (isDefault && isOutside)
    return new CemError(
      "FOLDER_UNTRUSTED",
      `${name} is ${text}, outside of ${folder}, and that folder is not trusted.`,
      { details: { folder, held: [name] } },
    );
  setPath(config, setting.keys, place);
  return undefined;
}

/** Disables the model. Which key is read depends on the provider, which the folder may have chosen. */
function withoutModel(config: Config, own: Config): void {
  config.llm.enabled = false;
  config.llm.apiKey = own.llm.apiKey;
  delete config.llm.embeddingModel;
  delete config.llm.azureEmbedderName;
}

/** Creates a `FOLDER_UNTRUSTED` error: something is requested by files of an untrusted folder. */
export function folderUntrusted(what: string, folder: string): CemError {
  const message = `${what} is held back: files of ${folder} ask for it, and that folder is not trusted.`;
  return new CemError("FOLDER_UNTRUSTED", message, { details: { folder } });
}

/** Describes the blocked items in one sentence. */
export function describeHeld(held: readonly Pick<HeldItem, "kind" | "name">[], folder: string): string {
  const named = held.slice(0, MAX_NAMED).map(({ kind, name }) => `${KINDS[kind] ?? kind} ${name}`);
  const rest = held.length - named.length;
  const list = [...named, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
  return `${folder} is not trusted, so held back: ${list}.`;
}

/** Descriptions of the kinds whose names are not clear enough. */
const KINDS: Partial<Record<HeldItem["kind"], string>> = {
  server: "MCP server",
  "host-tool": "host tool",
  path: "setting",
};
