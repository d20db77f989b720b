import { dirname, join, resolve } from "node:path";
import { bind } from "./bind.ts";
import { assertValid } from "./check.ts";
import { fileOfFolder, namedFile, readConfigFile, readEnvFile } from "./config-file.ts";
import { chooseProvider, environmentLayer, noticeOfIdleModel, serversOfVariables } from "./environment.ts";
import type { EnvironmentSource, Variables } from "./environment.ts";
import { emptyLayer, type Layer, type Origin } from "./layer.ts";
import { mergeConfig, type MergedConfig } from "./merge-config.ts";
import { warnOfRemovedVariables } from "./python-original.ts";
import { redactWhenPrinted } from "./redact.ts";
import { configSchema, type Config, type ConfigInput } from "./schema/schema.ts";
import { openFolderTrust, type FolderTrust } from "./trust/folder-trust.ts";
import { originsWithoutHeld, withoutHeld } from "./trust/hold-back.ts";
import { realPath } from "./trust/places.ts";
import type { PluginSource } from "./trust/plugins.ts";
import { findPlugins, requestedBy } from "./trust/requests.ts";
import { variablesOfServer } from "./trust/server-items.ts";

/** Where the configuration comes from. */
export interface ConfigSource {
  /**
   * The folder to search for a configuration file when none is named. `configFile` and relative paths in `config` are
   * resolved against it.
   *
   * @defaultValue the working directory of the process
   */
  cwd?: string | undefined;
  /**
   * The configuration file, which must exist. `false` reads none. Its folder is the project: `.env` is read from it, other
   * settings' paths are resolved against it, and commands of MCP servers start in it.
   *
   * @defaultValue the file in `CEM_CONFIG`, else config.yaml or config.yml in `cwd` if there is one
   */
  configFile?: string | false | undefined;
  /** Settings in camelCase that take precedence over file and environment: `{ execution: { workspaceDir: "./data" } }`. */
  config?: ConfigInput | undefined;
  /**
   * Whether to allow what files of the folder (config.yaml, .env) request: MCP servers, host tools, paths outside the
   * folder, the user's keys for its addresses, settings that could do harm. With `false`, a file named by `configFile`
   * counts as a file of the folder, too.
   *
   * @defaultValue what was trusted by `cem trust` or `CEM_TRUST_FOLDER`; a file named by `configFile` counts as the program's own
   */
  trustFolder?: boolean | undefined;
}

export interface LoadConfigOptions extends ConfigSource {
  /**
   * The environment variables.
   *
   * @defaultValue `process.env`
   */
  env?: Variables | undefined;
  /**
   * The file of environment variables, relative to `cwd`, or `false` for none.
   *
   * @defaultValue `.env` in the folder of the configuration file, if there is one
   */
  envFile?: string | false | undefined;
  /** Whether the program has plugins of its own, whose sandboxes `execution.sandbox_type` may name. */
  hasPlugins?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface LoadedConfig {
  config: Config;
  /** The origin of every setting by its path: `origins["execution.sandbox_type"]`. */
  origins: Record<string, Origin>;
  /** Absolute path of the configuration file that was read. */
  file: string | undefined;
  /**
   * Absolute path of the project: the folder of the configuration file, else `cwd`. Relative paths start from it,
   * except those in the option `config`, and commands of MCP servers run in it.
   */
  folder: string;
  /** Ignored settings with the reason, one sentence each. */
  warnings: string[];
  /** Host access that files of the folder request, and which part of it is blocked until trusted. */
  trust: FolderTrust;
  /** The plugins in order, not loaded yet; those that are held back are in `trust.held`. */
  plugins: readonly PluginSource[];
  /** Looks up a variable in the environment and then in `.env`. */
  variable: (name: string) => string | undefined;
}

/**
 * Loads the configuration from the defaults, config.yaml, `.env`, the environment and the option `config`; later sources take
 * precedence.
 *
 * Host access that files of the folder request is blocked until the folder is trusted: see `trust`.
 *
 * @throws CemError `CONFIG_INVALID` with all problems in `details.problems`; `CONFIG_NOT_FOUND` when a named file does
 * not exist.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  const sources = await readSources(options);
  const { cwd, file, folder, project, variables } = sources;
  const layers = layersOf(sources);
  assertValid(layers, options.hasPlugins === true);
  const { servers, warnings: unusable } = serversOfVariables(variables);
  const all = mergeConfig(layers, { cwd, project }, servers);
  const own = mergeConfig(layersOf(sources, { withFolder: false }), { cwd, project: folder });
  const { trust, plugins } = await openTrust({ all, own, sources }, options);
  const { config, obstacle } = withoutHeld(all.config, own, trust);
  const unused = servers.filter((server) => !all.added.includes(server));
  return {
    config: redactWhenPrinted(config),
    origins: originsWithoutHeld(all.origins, own.origins, trust.held),
    file,
    folder: project,
    warnings: [
      ...sources.warnings,
      ...layers.flatMap(({ warnings }) => warnings),
      ...unusable,
      ...unused.map(
        ({ name, origin }) => `${origin.label}  is not used: mcp_servers names the server "${name}" already.`,
      ),
      ...(trust.problem === undefined ? [] : [trust.problem]),
      ...variables.flatMap((source) => warnOfRemovedVariables(source.from, source.variables)),
      ...noticeOfIdleModel(all.origins["llm.enabled"], variables),
    ],
    trust: { ...trust, obstacle },
    plugins,
    variable: sources.variable,
  };
}

type Sources = Awaited<ReturnType<typeof readSources>>;

async function readSources(options: LoadConfigOptions) {
  const { env = process.env, configFile, config = {}, trustFolder, signal } = options;
  const cwd = resolve(options.cwd ?? ".");
  const environment = { from: "environment", variables: env } as const;
  const named = namedFile(cwd, configFile, environment);
  const envFile = options.envFile ?? join(folderOf(named?.file, cwd), ".env");
  const { variables, warnings } =
    envFile === false ? { variables: {}, warnings: [] } : await readEnvFile(resolve(cwd, envFile), signal);
  const isEnvOfFolder = options.envFile === undefined;
  const dotenv = { from: ".env", variables, ofFolder: isEnvOfFolder } as const;
  const found = named ?? (await fileOfFolder(cwd, dotenv));
  const { file } = found;
  const isFileOfFolder = found.ofFolder === true || trustFolder === false;
  const project = folderOf(file, cwd);
  const chosen = file === undefined ? undefined : { ...found, file, ofFolder: isFileOfFolder };
  return {
    cwd,
    file,
    project,
    /** The folder that asks: `.env` may name a file in another folder, which may be trusted. */
    folder: found.ofFolder === true ? cwd : project,
    fileLayer: chosen === undefined ? emptyLayer() : await readConfigFile(chosen, signal),
    isFileOfFolder,
    variables: [dotenv, environment] as readonly EnvironmentSource[],
    argumentLayer: bind(config, configSchema, {
      style: "camel",
      origin: () => ({ from: "argument", label: "argument" }),
    }),
    warnings: [...found.warnings, ...warnings],
    variable: (name: string): string | undefined => env[name] ?? variables[name],
    /** The variables that only files of the folder set. */
    folderVariables: new Map(
      Object.entries(isEnvOfFolder ? variables : {}).filter(([name]) => env[name] === undefined),
    ),
  };
}

function folderOf(file: string | undefined, cwd: string): string {
  return file === undefined ? cwd : dirname(file);
}

/** The layers of the sources, weakest first. The provider that they choose decides which variable holds the API key. */
function layersOf(sources: Sources, { withFolder = true } = {}): Layer[] {
  const { fileLayer, isFileOfFolder, argumentLayer } = sources;
  const file = isFileOfFolder && !withFolder ? emptyLayer() : fileLayer;
  const variables = sources.variables.filter(({ ofFolder }) => withFolder || ofFolder !== true);
  const provider = chooseProvider([file, argumentLayer], variables);
  return [file, ...variables.map((source) => environmentLayer(source, provider)), argumentLayer];
}

/** Finds the plugins, the host access that files of the folder request, and which part of it is trusted. */
async function openTrust(
  { all, own, sources }: { all: MergedConfig; own: MergedConfig; sources: Sources },
  { env = process.env, configFile, hasPlugins, trustFolder }: LoadConfigOptions,
) {
  const { config, origins } = all;
  const { folderVariables, project, variable } = sources;
  const folder = realPath(sources.folder);
  const isFileOfProgram = trustFolder !== false && configFile !== undefined;
  const plugins = await findPlugins(config, {
    base: all.baseOf("plugins"),
    folder,
    isAsked: origins["plugins"]?.ofFolder === true,
    hasOthers: hasPlugins === true,
    variables: [...folderVariables],
  });
  const [fileLayer, dotenvLayer] = all.layers;
  const requested = requestedBy(config, serversOfFolder(all, folderVariables), {
    origins,
    own: own.config,
    given: { file: fileLayer?.values, ".env": dotenvLayer?.values },
    cwd: project,
    folder,
    defaultsFolder: isFileOfProgram ? undefined : folder,
    variable,
    folderVariable: (name) => folderVariables.get(name),
  });
  const areToolsNamed = ["argument", "environment"].includes(origins["execution.servers_dir"]?.from ?? "");
  const trust = await openFolderTrust({
    folder,
    env,
    requested: [...requested, ...plugins.items],
    isAllowed: trustFolder === true,
    allowsHostTools: trustFolder !== false && (isFileOfProgram || areToolsNamed),
  });
  return { trust, plugins: plugins.sources };
}

/** The names of the MCP servers that files of the folder name, or give variables to. */
function serversOfFolder({ config, origins, added }: MergedConfig, variables: Sources["folderVariables"]) {
  const found = config.mcpServers.filter((server) => {
    const { origin } = added.find(({ name }) => name === server.name) ?? { origin: origins["mcp_servers"] };
    return origin?.ofFolder === true || variablesOfServer(server).some((name) => variables.has(name));
  });
  return new Set(found.map(({ name }) => name));
}
