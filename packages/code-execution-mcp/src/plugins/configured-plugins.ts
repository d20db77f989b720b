import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Config, LoadedConfig } from "@cem/config";
import { CemError, Lazy } from "@cem/core";
import { makeFolder, replaceFile } from "@cem/core/files";
import type { HostToolsByServer } from "@cem/mcp-client/tools";
import { createLog } from "../wiring/log.ts";
import type { Plugin } from "./define-plugin.ts";
import type { OpenPluginsSettings, PluginReport, PluginRequest, PluginSet } from "./open-plugins.ts";

/** A plugin that a program gives in code. */
export type GivenPlugin =
  | Plugin
  | {
      plugin: Plugin;
      /** Checked by the plugin's own schema. */
      options?: Readonly<Record<string, unknown>> | undefined;
      /** Whether nothing may run without it. */
      required?: boolean | undefined;
    };

/** Plugins, tools and log given in code, besides the configuration. */
export interface PluginOptions {
  plugins?: readonly GivenPlugin[] | undefined;
  tools?: HostToolsByServer | undefined;
  onLog?: ((line: string) => void) | undefined;
}

/** Names that no plugin can take: those of steps and transports that there are anyway. */
const STEPS = ["tool_call", "code_execution", "condition", "loop", "workflow", "form"];
const TRANSPORTS = ["http", "https", "stdio", "sse", "file", "data"];
/** The URLs of folders whose modules get this package, whatever is installed beside them. */
const pluginFolders = new Set<string>();

/** The plugins of a configuration and of a program, opened when they are first needed. `undefined` where there are none. */
export function lazyPlugins(loaded: LoadedConfig, options: PluginOptions): Lazy<PluginSet> | undefined {
  const { plugins = [] } = options;
  if (plugins.length + loaded.plugins.length === 0) return undefined;
  return new Lazy(() => openConfiguredPlugins(loaded, options));
}

/** State, times and problems of each plugin, including those noted by earlier processes. */
export async function reportPlugins({ config }: LoadedConfig, set: PluginSet): Promise<PluginReport[]> {
  const before = await readPluginTimes(config);
  return set.reports().map((report) => {
    const { uses = 0, useMs = 0, failures = 0, problems = [] } = before[report.name] ?? {};
    const times = {
      setupMs: report.times.setupMs,
      uses: report.times.uses + uses,
      useMs: report.times.useMs + useMs,
      failures: report.times.failures + failures,
    };
    return { ...report, times, problems: [...new Set([...report.problems, ...problems])] };
  });
}

async function openConfiguredPlugins(loaded: LoadedConfig, options: PluginOptions): Promise<PluginSet> {
  const { openPlugins } = await import("./open-plugins.ts");
  const { config, trust, variable } = loaded;
  const log = createLog(config, options.onLog);
  const given = (options.plugins ?? []).map(toRequest);
  const set = await openPlugins([...given, ...(await configuredRequests(loaded))], {
    taken: {
      server: await takenServers(loaded, options.tools),
      sandbox: (await import("@cem/config")).SANDBOX_TYPES,
      step: STEPS,
      transport: TRANSPORTS,
    },
    faultOfTool,
    // Without a yes, what is in .env is for nobody that the user has brought.
    variable: trust.held.some(isOfVariables) ? (name) => process.env[name] : variable,
    log: (message) => log("warning", message),
  });
  let disposed: Promise<void> | undefined;
  return {
    ...set,
    dispose: () => (disposed ??= set.dispose().then(() => savePluginTimes(config, set.reports()))),
  };
}

/** Whether an item is the variables of `.env`, and no plugin. */
function isOfVariables({ kind, name }: LoadedConfig["trust"]["held"][number]): boolean {
  return kind === "plugin" && name === ".env";
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
      return { ...request, obstacle: { state: "failed", error } };
    }
    pluginFolders.add(`${pathToFileURL(root).href}/`);
    return request;
  });
}

/** The folders that code in the sandbox can write to. */
function writableFolders({ execution }: LoadedConfig["config"]): string[] {
  const { workspaceDir, state, mountDirectories } = execution;
  const mounted = mountDirectories.filter(({ mode }) => mode === "rw").map(({ host }) => host);
  return [workspaceDir, state.workspaceDir, ...mounted];
}

/** The servers that the project or the program has: a plugin can't put a tool into one of them, nor in its place. */
async function takenServers({ config }: LoadedConfig, given: HostToolsByServer = {}): Promise<string[]> {
  const folders = await readdir(config.execution.serversDir).catch((): string[] => []);
  return [...Object.keys(given), ...config.mcpServers.map(({ name }) => name), ...folders];
}

const faultOfTool: OpenPluginsSettings["faultOfTool"] = async (server, name, tool) => {
  const [{ toolNameFault }, { createHostTools }] = await Promise.all([
    import("@cem/mcp-client/tools"),
    import("@cem/bridge"),
  ]);
  const fault = await toolNameFault(server, name);
  if (fault !== undefined) return `it ${fault}`;
  if (typeof tool.description !== "string" || typeof tool.execute !== "function") {
    return "it needs a description and execute()";
  }
  try {
    createHostTools({ tools: { [server]: { [name]: tool } } });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const FILE = "plugins.json";
const MAX_PROBLEMS = 5;
const MAX_FILE_CHARACTERS = 1_000_000;

/** Use of a plugin, summed over processes; the problems are those of the last use. */
interface NotedTimes {
  uses: number;
  useMs: number;
  failures: number;
  problems: string[];
}

/** Use of the plugins as noted by earlier processes, by plugin name. Unreadable notes count as none. */
async function readPluginTimes(config: Config): Promise<Record<string, NotedTimes>> {
  try {
    const text = await readFile(fileOf(config), "utf8");
    if (text.length > MAX_FILE_CHARACTERS) return {};
    const noted: unknown = JSON.parse(text);
    if (typeof noted !== "object" || noted === null) return {};
    return Object.fromEntries(Object.entries(noted).map(([name, times]) => [name, toTimes(times)]));
  } catch {
    return {};
  }
}

/** Adds the use of plugins to what is noted, for `cem plugins list`. Where that can't be written, it is let be. */
async function savePluginTimes(config: Config, reports: readonly PluginReport[]): Promise<void> {
  const { enabled, toolCache } = config.optimizations;
  const used = reports.filter(({ times }) => times.uses > 0);
  if (!enabled || !toolCache || used.length === 0) return;
  try {
    const noted = await readPluginTimes(config);
    for (const { name, times, problems } of used) {
      const before = noted[name] ?? toTimes(undefined);
      noted[name] = {
        uses: before.uses + times.uses,
        useMs: before.useMs + times.useMs,
        failures: before.failures + times.failures,
        // Those of the last use: problems that were fixed are no longer reported.
        problems: problems.slice(0, MAX_PROBLEMS),
      };
    }
    const file = fileOf(config);
    await makeFolder(path.dirname(file));
    await replaceFile(file, `${JSON.stringify(noted)}\n`);
  } catch {
    // A cache.
  }
}

function fileOf({ optimizations }: Config): string {
  return path.join(optimizations.searchCacheDir, FILE);
}

function toTimes(given: unknown): NotedTimes {
  const { uses, useMs, failures, problems } = (given ?? {}) as Record<string, unknown>;
  const number = (value: unknown): number => (Number.isFinite(value) ? Math.max(0, Number(value)) : 0);
  return {
    uses: number(uses),
    useMs: number(useMs),
    failures: number(failures),
    problems: Array.isArray(problems) ? problems.filter((one) => typeof one === "string") : [],
  };
}
