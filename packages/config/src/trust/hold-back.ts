import { resolve } from "node:path";
import { CemError } from "@cem/core";
import { setPath } from "../layer.ts";
import type { Config } from "../schema.ts";
import { SETTINGS } from "../settings.ts";
import type { FolderTrust } from "./folder-trust.ts";
import { isWithin, realPath } from "./places.ts";
import type { HeldItem } from "./trust-item.ts";

/** The most items that a message names. */
const MAX_NAMED = 8;

/**
 * A configuration without what is held back: mounts are left out, paths are the defaults, no key is sent, and there is no
 * queue and no store. MCP servers and plugins stay, to be listed; who connects to them or loads them looks at `trust.held`.
 *
 * @param defaultsFolder - The folder that the defaults start from.
 * @returns the configuration, and why it can't be used: a default is a link out of the folder.
 */
export function withoutHeld(
  config: Config,
  trust: FolderTrust,
  defaultsFolder: string,
): { config: Config; obstacle?: CemError | undefined } {
  const held = trust.held.filter(({ kind }) => kind !== "server" && kind !== "plugin");
  if (held.length === 0) return { config };
  const { execution } = config;
  const mounts = new Set(held.filter(({ kind }) => kind === "mount").map(({ name }) => name));
  const copy = copySections(config);
  copy.execution.mountDirectories = execution.mountDirectories.filter(({ guest }) => !mounts.has(guest));
  let obstacle: CemError | undefined;
  for (const item of held) {
    if (item.kind === "path") obstacle = setDefault(copy, item, trust, defaultsFolder) ?? obstacle;
    if (item.kind === "key") withoutDestination(copy, item.name);
    if (item.kind === "queue") delete copy.queue.url;
    if (item.kind === "store") {
      delete copy.store.url;
      delete copy.store.files;
    }
  }
  return { config: copy, obstacle };
}

/** Copies the sections; the values in them are not changed. */
function copySections(config: Config): Config {
  const { execution } = config;
  const sections = Object.entries(config).map(([key, value]) => [
    key,
    typeof value === "object" && !Array.isArray(value) ? { ...value } : value,
  ]);
  const copy = Object.fromEntries(sections) as Config;
  copy.execution.state = { ...execution.state };
  return copy;
}

/** @returns why the setting can't be used, where its default leads out of the folder too. */
function setDefault(
  config: Config,
  { name, text }: HeldItem,
  trust: FolderTrust,
  folder: string,
): CemError | undefined {
  const setting = SETTINGS.find(({ path }) => path === name);
  if (setting === undefined) return undefined;
  if (name === "execution.state.workspace_dir") {
    config.execution.state.workspaceDir = config.execution.workspaceDir;
    return undefined;
  }
  const { default: value, keys } = setting;
  const { execution } = config;
  if (name === "execution.workspace_dir" && execution.state.workspaceDir === execution.workspaceDir) {
    execution.state.workspaceDir = resolve(folder, String(value));
  }
  const place = typeof value === "string" ? resolve(folder, value) : undefined;
  if (place !== undefined && !isWithin(realPath(folder), realPath(place))) {
    return new CemError(
      "FOLDER_UNTRUSTED",
      `${name} is ${text}, outside of ${trust.folder}, and that folder is not trusted.`,
      { details: { folder: trust.folder, held: [name] } },
    );
  }
  setPath(config, keys, place);
  return undefined;
}

function withoutDestination(config: Config, url: string): void {
  if (url === "execution.msb_server_url") {
    delete config.execution.msbServerUrl;
    return;
  }
  config.llm.enabled = false;
  delete config.llm.embeddingModel;
  delete config.llm.azureEmbedderName;
}

/** `FOLDER_UNTRUSTED`: what was to be used is asked for by files of a folder that is not trusted. */
export function folderUntrusted(what: string, folder: string): CemError {
  const message = `${what} is held back: files of ${folder} ask for it, and that folder is not trusted.`;
  return new CemError("FOLDER_UNTRUSTED", message, { details: { folder } });
}

/** What is held back, as one sentence. */
export function describeHeld(held: readonly Pick<HeldItem, "kind" | "name">[], folder: string): string {
  const named = held.slice(0, MAX_NAMED).map(({ kind, name }) => `${KINDS[kind]} ${name}`);
  const rest = held.length - named.length;
  const list = [...named, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
  return `${folder} is not trusted, so held back: ${list}.`;
}

const KINDS: Readonly<Record<HeldItem["kind"], string>> = {
  server: "MCP server",
  "host-tool": "host tool",
  plugin: "plugin",
  mount: "mount",
  path: "setting",
  key: "setting",
  queue: "setting",
  store: "setting",
};
