import { dirname, join, resolve } from "node:path";
import { emptyLayer, configInvalid } from "./layer.ts";
import type { Origin, Layer, ConfigProblem } from "./layer.ts";
import { configSchema } from "./schema/schema.ts";
import type { Config, ConfigInput } from "./schema/schema.ts";
import { openFolderTrust } from "./trust/folder-trust.ts";
import type { FolderTrust } from "./trust/folder-trust.ts";
import type { PluginSource } from "./trust/plugins.ts";
import { environmentLayer, chooseProvider, noticeOfIdleModel, serversOfVariables } from "./environment.ts";
import type { Variables, EnvironmentSource, VariableServer } from "./environment.ts";
import { withAbsolutePaths, mergeLayers } from "./merge-config.ts";
import { bind } from "./bind.ts";
import { checkLayer, builtInSandbox, namesPlugins, nameProblems } from "./check.ts";
import { fileOfFolder, namedFile, readConfigFile, readEnvFile } from "./config-file.ts";
import { warnOfRemovedVariables } from "./python-original.ts";
import { redactWhenPrinted } from "./redact.ts";
import { originsWithoutHeld, withoutHeld } from "./trust/hold-back.ts";
import { realPath } from "./trust/places.ts";
import { findPlugins, requestedBy } from "./trust/requests.ts";
import { variablesOfServer } from "./trust/server-items.ts";

export interface LoadConfigOptions {
  /**
   * The folder to search for a configuration file when none is named. `file`, `envFile` and paths in `overrides` are
   * relative to it.
   *
   * @defaultValue the working directory of the process
   */
  cwd?: string | undefined;
  /**
   * The configuration file, which must exist, or `false` for none.
   *
   * @defaultValue the file in `CEM_CONFIG`, else config.yaml or config.yml in `cwd` if there is one
   */
  file?: string | false | undefined;
  /**
   * The environment variables.
   *
   * @defaultValue `process.env`
   */
  env?: Variables | undefined;
  /**
   * The file of environment variables, or `false` for none.
   *
   * @defaultValue `.env` in the folder of the configuration file, if there is one
   */
  envFile?: string | false | undefined;
  /** Settings that take precedence over all other sources. */
  overrides?: ConfigInput | undefined;
  /**
   * Whether to allow what files of the folder (config.yaml, .env) ask for: MCP servers, host tools, places outside the
   * folder, the user's keys for its addresses, settings that could do harm. With `false`, a file named by `file` counts
   * as one of the folder, too.
   *
   * @defaultValue what was trusted by `cem trust` or `CEM_TRUST_FOLDER`; a configuration named by `file` counts as the
   *   program's own
   */
  trustFolder?: boolean | undefined;
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
   * except those in `overrides`, and commands of MCP servers run in it.
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
 * Loads the configuration from the defaults, config.yaml, `.env`, the environment and `overrides`; later sources take
 * precedence.
 *
 * Host access that files of the folder request is blocked until the folder is trusted: see `trust`.
 *
 * @throws CemError `CONFIG_INVALID` with all problems in `details.problems`; `CONFIG_NOT_FOUND` when a named file does
 * not exist.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  const { env = process.env, overrides = {}, signal } = options;
  const cwd = resolve(options.cwd ?? ".");
  const environmentSource = { from: "environment", variables: env } as const;
  const named = namedFile(cwd, options.file, environmentSource);
  const envFile = options.envFile === undefined ? join(folderOf(named?.file, cwd), ".env") : options.envFile;
  const dotenv =
    envFile === false ? { variables: {}, warnings: [] } : await readEnvFile(resolve(cwd, envFile), signal);
  const dotenvSource = {
    from: ".env",
    variables: dotenv.variables,
    ofFolder: options.envFile === undefined,
  } as const;
  const sources: readonly EnvironmentSource[] = [dotenvSource, environmentSource];
  const found = named ?? (await fileOfFolder(cwd, dotenvSource));
  const isFileOfFolder = found.ofFolder === true || options.trustFolder === false;
  const project = folderOf(found.file, cwd);
  const fileLayer =
    found.file === undefined
      ? emptyLayer()
      : await readConfigFile({ ...found, file: found.file, ofFolder: isFileOfFolder }, signal);
  const argumentLayer = bind(overrides, configSchema, {
    style: "camel",
    origin: () => ({ from: "argument", label: "argument" }),
  });
  const provider = chooseProvider([fileLayer, argumentLayer], sources);
  const environment = sources.map((source) => environmentLayer(source, provider));
  const layers = [fileLayer, ...environment.map(({ layer }) => layer), argumentLayer];
  const hasPlugins = options.hasPlugins === true || layers.some(namesPlugins);
  const problems = layers.flatMap((layer) =>
    sortByPosition([...problemsOf(layer), ...(hasPlugins ? [] : nameProblems(layer, layers))]),
  );
  if (problems.length > 0) throw configInvalid(problems);
  const { servers: variableServers, warnings: unusable } = serversOfVariables(sources);
  const { config, origins, added } = mergeToConfig(layers, variableServers, { cwd, project });
  const baseOf = (path: string): string => (origins[path]?.from === "argument" ? cwd : project);
  const ownSources = sources.filter(({ ofFolder }) => ofFolder !== true);
  const ownFileLayer = isFileOfFolder ? emptyLayer() : fileLayer;
  const ownProvider = chooseProvider([ownFileLayer, argumentLayer], ownSources);
  const ownLayers = ownSources.map((source) => environmentLayer(source, ownProvider).layer);
  // A file named by .env may be in another, trusted folder, but it is this folder that asks for it.
  const folder = found.ofFolder === true ? cwd : project;
  const own = mergeToConfig([ownFileLayer, ...ownLayers, argumentLayer], [], { cwd, project: folder });
  const variable = (name: string): string | undefined => env[name] ?? dotenv.variables[name];
  const isOwn = options.trustFolder !== false && options.file !== undefined;
  const ofFolder = new Set(added.filter(({ origin }) => origin.ofFolder === true).map(({ name }) => name));
  const isAdded = (name: string): boolean => added.some((server) => server.name === name);
  const folderVariable = (name: string): string | undefined =>
    env[name] === undefined && options.envFile === undefined ? dotenv.variables[name] : undefined;
  for (const server of config.mcpServers) {
    const isNamedByFile = origins["mcp_servers"]?.ofFolder === true && !isAdded(server.name);
    if (isNamedByFile || variablesOfServer(server).some((name) => folderVariable(name) !== undefined))
      ofFolder.add(server.name);
  }
  const plugins = await findPlugins(config, {
    base: baseOf("plugins"),
    folder: realPath(folder),
    isAsked: origins["plugins"]?.ofFolder === true,
    hasOthers: options.hasPlugins === true,
    variables: Object.keys(dotenv.variables).flatMap((name) => {
      const value = folderVariable(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  });
  const requested = [
    ...requestedBy(config, ofFolder, {
      origins,
      own: own.config,
      given: { file: fileLayer.values, ".env": environment[0]?.layer.values },
      cwd: project,
      folder: realPath(folder),
      defaultsFolder: isOwn ? undefined : realPath(folder),
      variable,
      folderVariable,
    }),
    ...plugins.items,
  ];
  const areToolsNamed = ["argument", "environment"].includes(origins["execution.servers_dir"]?.from ?? "");
  const trust = await openFolderTrust({
    folder,
    env,
    requested,
    isAllowed: options.trustFolder === true,
    allowsHostTools: options.trustFolder !== false && (isOwn || areToolsNamed),
  });
  const { config: usable, obstacle } = withoutHeld(
    config,
    { ...own, defaultsFolder: realPath(folder) },
    trust,
  );
  const warnings = [
    ...[found, dotenv, ...environment].flatMap((source) => source.warnings),
    ...unusable,
    ...variableServers
      .filter(({ name }) => !isAdded(name))
      .map(
        ({ name, origin }) => `${origin.label}  is not used: mcp_servers names the server "${name}" already.`,
      ),
    ...(trust.problem === undefined ? [] : [trust.problem]),
    ...sources.flatMap(({ from, variables }) => warnOfRemovedVariables(from, variables)),
    ...noticeOfIdleModel(origins["llm.enabled"], sources),
  ];
  return {
    config: redactWhenPrinted(usable),
    origins: originsWithoutHeld(origins, own.origins, trust.held),
    file: found.file,
    folder: project,
    warnings,
    trust: { ...trust, obstacle },
    plugins: plugins.sources,
    variable,
  };
}

/** Merges sources, weakest first, and adds the servers of variables with names that are not taken yet. */
function mergeToConfig(
  layers: readonly Layer[],
  named: readonly VariableServer[],
  { cwd, project }: { cwd: string; project: string },
): { config: Config; origins: Record<string, Origin>; added: VariableServer[] } {
  const { values, origins } = mergeLayers(layers);
  const { mcpServers: configured, ...parsed } = configSchema.parse(values);
  parsed.execution.sandboxType = builtInSandbox(parsed.execution.sandboxType);
  const added = named.filter(({ name }) => configured.every((server) => server.name !== name));
  const servers = added.map(({ name, url }) => ({ name, url }));
  const mcpServers = [...configured, ...configSchema.parse({ mcpServers: servers }).mcpServers];
  const config = withAbsolutePaths({ ...parsed, mcpServers }, (path) =>
    origins[path]?.from === "argument" ? cwd : project,
  );
  return { config, origins, added };
}

function folderOf(file: string | undefined, cwd: string): string {
  return file === undefined ? cwd : dirname(file);
}

/** The problems of one source. A missing key is not reported when a similar, misspelt key of the mapping is. */
function problemsOf(layer: Layer): ConfigProblem[] {
  const renamed = layer.problems.filter(
    ({ unknown, suggestion }) => unknown === true && suggestion !== undefined,
  );
  const isExplained = ({ path }: ConfigProblem): boolean =>
    renamed.some((problem) => path !== "" && problem.path.slice(0, problem.path.lastIndexOf(".")) === path);
  return [...layer.problems, ...checkLayer(layer).filter((problem) => !isExplained(problem))];
}

function sortByPosition(problems: ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted(
    (one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0),
  );
}
