import { readdir } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { LoadedConfig } from "@cem/config";
import { CemError, Lazy } from "@cem/core";
import type { HostToolsByServer } from "@cem/mcp-client/tools";
import { logOf } from "../wiring/log.ts";
import { writableFolders } from "../wiring/packages.ts";
import type { Plugin } from "./define-plugin.ts";
import type { PluginRequest, PluginSet } from "./open-plugins.ts";

/** A plugin passed in code. */
export type GivenPlugin =
  | Plugin
  | {
      plugin: Plugin;
      /** Checked by the plugin's own schema. */
      options?: Readonly<Record<string, unknown>> | undefined;
      /** Whether runs fail if it can't be loaded. */
      required?: boolean | undefined;
    };

/** Plugins, tools and log passed in code, in addition to the configuration. */
export interface PluginOptions {
  plugins?: readonly GivenPlugin[] | undefined;
  tools?: HostToolsByServer | undefined;
  onLog?: ((line: string) => void) | undefined;
}

/** Names reserved for built-in steps and transports. */
const STEPS = ["tool_call", "code_execution", "condition", "loop", "workflow", "form"];
const TRANSPORTS = ["http", "https", "stdio", "sse", "file", "data"];
/** The URLs of folders whose modules resolve this package to the running copy, whatever is installed next to them. */
const pluginFolders = new Set<string>();

/** The plugins from the configuration and from code, opened on first use. `undefined` if there are none. */
export function lazyPlugins(loaded: LoadedConfig, options: PluginOptions): Lazy<PluginSet> | undefined {
  const { plugins = [] } = options;
  if (plugins.length + loaded.plugins.length === 0) return undefined;
  return new Lazy(() => openConfiguredPlugins(loaded, options));
}

async function openConfiguredPlugins(loaded: LoadedConfig, options: PluginOptions): Promise<PluginSet> {
  const { openPlugins } = await import("./open-plugins.ts");
  const { config, trust, variable } = loaded;
  const log = logOf(config, options);
  const areVariablesHeld = trust.held.some(({ kind, name }) => kind === "plugin" && name === ".env");
  const given = (options.plugins ?? []).map(toRequest);
  return openPlugins([...given, ...(await configuredRequests(loaded))], {
    taken: {
      server: await takenServers(loaded, options.tools),
      sandbox: (await import("@cem/config")).SANDBOX_TYPES,
      step: STEPS,
      transport: TRANSPORTS,
    },
    // Variables of an untrusted .env are not passed to the user's plugins.
    variable: areVariablesHeld ? (name) => process.env[name] : variable,
    log: (message) => log("warning", message),
  });
}

function toRequest(given: GivenPlugin): PluginRequest {
  const { plugin, options, required } =
    typeof given === "object" && given !== null && "plugin" in given
      ? given
      : { plugin: given, options: undefined, required: undefined };
  const { name } = (plugin ?? {}) as { name?: unknown };
  return { named: typeof name === "string" ? name : "given in code", from: { plugin }, options, required };
}

async function configuredRequests({ config, plugins, trust }: LoadedConfig): Promise<PluginRequest[]> {
  if (plugins.length === 0) return [];
  const [{ folderUntrusted, isWithin, realPath }, { resolveOwnPackage }] = await Promise.all([
    import("@cem/config"),
    import("@cem/core/files"),
  ]);
  const held = new Set(trust.held.filter(({ kind }) => kind === "plugin").map(({ name }) => name));
  const writable = writableFolders(config).map(realPath);
  resolveOwnPackage(
    { name: "code-execution-mcp", from: import.meta.url },
    {
      kind: "plugin",
      isPreferred: true,
      isImporter: (url) => [...pluginFolders].some((folder) => url.startsWith(folder)),
    },
  );
  return plugins.map(({ name, file = "", root = "", files, options, required, problem }): PluginRequest => {
    const request = { named: name, from: { file, folder: root }, options, required };
    const details = { plugin: name };
    if (held.has(name)) {
      const error = folderUntrusted(`The plugin ${name}`, trust.folder);
      return { ...request, obstacle: { state: "held", error } };
    }
    const written = files.map((one) => writable.find((folder) => isWithin(folder, one))).find(Boolean);
    const why =
      problem ??
      (written === undefined
        ? undefined
        : `Code in the sandbox can write to ${written}, where files of it are. Move it out of there.`);
    if (why !== undefined) {
      const error = new CemError("PLUGIN_INVALID", `The plugin ${name} can't be loaded. ${why}`, { details });
      return { ...request, obstacle: { state: "error", error } };
    }
    pluginFolders.add(`${pathToFileURL(root).href}/`);
    return request;
  });
}

/** The servers of the project and of the program. A plugin can neither add tools to them nor replace them. */
async function takenServers({ config }: LoadedConfig, given: HostToolsByServer = {}): Promise<string[]> {
  const folders = await readdir(config.execution.serversDir).catch((): string[] => []);
  return [...Object.keys(given), ...config.mcpServers.map(({ name }) => name), ...folders];
}
