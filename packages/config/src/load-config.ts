import { dirname, resolve } from "node:path";
import { withAbsolutePaths } from "./absolute-paths.ts";
import { bind } from "./bind.ts";
import { checkLayer } from "./check.ts";
import { findConfigFile, readConfigFile, readEnvFile } from "./config-file.ts";
import { environmentLayer, type EnvironmentSource } from "./environment.ts";
import { nearest } from "@cem/text";
import { emptyLayer, getPath, type Layer, type Origin, originKey, problemAt } from "./layer.ts";
import { locate } from "./located.ts";
import { configInvalid, type ConfigProblem, formatValue } from "./problem.ts";
import { mergeLayers } from "./merge.ts";
import { chooseProvider, noticeOfIdleModel } from "./provider.ts";
import { adviceOnRemovedValue, warnOfRemovedVariables } from "./python-original.ts";
import { redactWhenPrinted } from "./redact.ts";
import { type Config, type ConfigInput, configSchema } from "./schema.ts";
import { SANDBOX_TYPES } from "./schema-execution.ts";
import { type FolderTrust, openFolderTrust } from "./trust/folder-trust.ts";
import { withoutHeld } from "./trust/hold-back.ts";
import { mountItems, type PathOrigins, pathItems } from "./trust/place-items.ts";
import { realPath } from "./trust/places.ts";
import type { PluginSource } from "./trust/plugin-source.ts";
import { queueItems, storeItems } from "./trust/queue-items.ts";
import { keyItems } from "./trust/secret-destinations.ts";
import { serverItem, type ServerPlace } from "./trust/server-items.ts";
import type { TrustItem } from "./trust/trust-item.ts";
import { serversOfVariables, type VariableServer } from "./variable-servers.ts";
import { FILE_VARIABLE, type Variables, variableValue } from "./variables.ts";

export interface LoadConfigOptions {
  /**
   * The folder in which config.yaml and .env are looked for.
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
   * @defaultValue `.env` in `cwd` if there is one
   */
  envFile?: string | false | undefined;
  /** Settings that take precedence over all other sources. */
  overrides?: ConfigInput | undefined;
  /**
   * Whether to allow what files of the folder ask for: MCP servers, host tools, places outside of it, the user's keys for
   * its addresses. `false` takes a file that `file` names for one of the folder, too.
   *
   * @defaultValue what was trusted, by `cem trust` or `CEM_TRUST_FOLDER`; and a configuration that `file` names is taken for
   * the program's own
   */
  trustFolder?: boolean | undefined;
  /** Whether the program brings plugins of its own, whose sandboxes `execution.sandbox_type` may name. */
  hasPlugins?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface LoadedConfig {
  config: Config;
  /** The origin of every setting by its path: `origins["execution.sandbox_type"]`. */
  origins: Record<string, Origin>;
  /** Absolute path of the configuration file that was read. */
  file: string | undefined;
  /** What was ignored and why, one sentence each. */
  warnings: string[];
  /** What files of the folder ask for on this host, and what of it is held back. */
  trust: FolderTrust;
  /** The plugins in their order. None was loaded; those that are held back are in `trust.held`. */
  plugins: readonly PluginSource[];
  /** Looks up a variable in the environment and then in `.env`. */
  variable: (name: string) => string | undefined;
}

/**
 * Loads the configuration from the defaults, config.yaml, `.env`, the environment and `overrides`; later sources take
 * precedence.
 *
 * What files of the folder ask for on this host is held back until the folder is trusted: see `trust`.
 *
 * @throws CemError `CONFIG_INVALID` with all problems in `details.problems`; `CONFIG_NOT_FOUND` when a named file does
 * not exist.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  const { env = process.env, overrides = {}, signal } = options;
  const cwd = resolve(options.cwd ?? ".");
  const dotenv =
    options.envFile === false
      ? { variables: {}, warnings: [] }
      : await readEnvFile(resolve(cwd, options.envFile ?? ".env"), signal);
  const sources = [
    { from: ".env", variables: dotenv.variables, ofFolder: options.envFile === undefined },
    { from: "environment", variables: env },
  ] as const;
  const found = await chooseFile(cwd, options.file, sources);
  const fileLayer =
    found.file === undefined
      ? emptyLayer()
      : await readConfigFile(
          { ...found, file: found.file, ofFolder: found.ofFolder === true || options.trustFolder === false },
          signal,
        );
  const argumentLayer = bind(locate(overrides), configSchema, {
    style: "camel",
    origin: () => ({ from: "argument", label: "argument" }),
  });
  const provider = chooseProvider([fileLayer, argumentLayer], sources);
  const environment = sources.map((source) => environmentLayer(source, provider));
  const layers = [fileLayer, ...environment.map(({ layer }) => layer), argumentLayer];
  const bringsSandboxes = options.hasPlugins === true || layers.some(namesPlugins);
  const problems = layers.flatMap((layer) =>
    sortByPosition([...problemsOf(layer), ...(bringsSandboxes ? [] : sandboxProblems(layer))]),
  );
  if (problems.length > 0) throw configInvalid(problems);
  const { values, origins } = mergeLayers(layers);
  const { servers: named, warnings: unusable } = serversOfVariables(sources);
  const { mcpServers: configured, ...parsed } = configSchema.parse(values);
  parsed.execution.sandboxType = builtInSandbox(parsed.execution.sandboxType);
  const added = named.filter(({ name }) => configured.every((server) => server.name !== name));
  const mcpServers = [...configured, ...toSettings(added)];
  const config = withAbsolutePaths({ ...parsed, mcpServers }, (path) => {
    const file = origins[path]?.file;
    return file === undefined ? cwd : dirname(file);
  });
  const variable = (name: string): string | undefined => env[name] ?? dotenv.variables[name];
  const isOwn = options.trustFolder !== false && options.file !== undefined;
  // A file that .env names may be a trusted one of another folder: it is this folder that asks for it.
  const folder = found.file === undefined || found.ofFolder === true ? cwd : dirname(found.file);
  const ofFolder = new Set(added.filter(({ origin }) => origin.ofFolder === true).map(({ name }) => name));
  if (origins["mcp_servers"]?.ofFolder === true) for (const { name } of configured) ofFolder.add(name);
  const plugins = await findPlugins(config, {
    base: origins["plugins"]?.file === undefined ? cwd : dirname(origins["plugins"].file),
    folder: realPath(folder),
    isAsked: origins["plugins"]?.ofFolder === true,
  });
  const requested = [
    ...requestedBy(config, ofFolder, {
      origins,
      cwd,
      folder: realPath(folder),
      defaultsFolder: isOwn ? undefined : realPath(cwd),
      variable,
      folderVariable: (name) => (env[name] === undefined ? dotenv.variables[name] : undefined),
    }),
    ...plugins.items,
  ];
  const trust = await openFolderTrust({
    folder,
    env,
    requested,
    isAllowed: options.trustFolder === true,
    allowsHostTools: options.trustFolder !== false && (isOwn || isNamed(origins["execution.servers_dir"])),
  });
  const { config: usable, obstacle } = withoutHeld(config, trust, cwd);
  const warnings = [
    ...[found, dotenv, ...environment].flatMap((source) => source.warnings),
    ...unusable,
    ...sources.flatMap(({ from, variables }) => warnOfRemovedVariables(from, variables)),
    ...noticeOfIdleModel(origins["llm.enabled"], sources),
  ];
  return {
    config: redactWhenPrinted(usable),
    origins,
    file: found.file,
    warnings,
    trust: { ...trust, obstacle },
    plugins: plugins.sources,
    variable,
  };
}

/** Where the plugins are, and what those ask for that files of the folder name. */
async function findPlugins(
  { plugins }: Config,
  place: { base: string; folder: string; isAsked: boolean },
): Promise<{ sources: PluginSource[]; items: TrustItem[] }> {
  if (plugins.length === 0) return { sources: [], items: [] };
  const { askForPlugin, findPlugin } = await import("./trust/plugin-source.ts");
  const found = plugins.map((plugin) => findPlugin(plugin, place));
  if (!place.isAsked) return { sources: found, items: [] };
  const asked = found.map((source) => askForPlugin(source, place));
  return { sources: asked.map(({ source }) => source), items: asked.flatMap(({ item }) => item ?? []) };
}

/** Our own sandboxes however they are written: variables often have upper-case letters. */
function builtInSandbox(name: string): string {
  return SANDBOX_TYPES.find((one) => one === name.toLowerCase()) ?? name;
}

function namesPlugins({ values }: Layer): boolean {
  const plugins = getPath(values, ["plugins"]);
  return Array.isArray(plugins) && plugins.length > 0;
}

/** Only plugins bring sandboxes of other names. */
function sandboxProblems({ values, origins }: Layer): ConfigProblem[] {
  const keys = ["execution", "sandboxType"];
  const named = getPath(values, keys);
  const at = origins.get(originKey(keys));
  if (typeof named !== "string" || at === undefined || SANDBOX_TYPES.includes(builtInSandbox(named)))
    return [];
  const [suggestion] = nearest(named, SANDBOX_TYPES);
  const allowed = SANDBOX_TYPES.join(", ");
  const value = formatValue(named);
  const advice =
    adviceOnRemovedValue("execution.sandbox_type", named) ??
    (suggestion === undefined ? "" : `Did you mean ${suggestion}?`);
  const message = `is ${value}. Allowed: ${allowed}. ${advice}`.trimEnd();
  return [problemAt(at, message, { line: at.origin.line, allowed, value, suggestion })];
}

/** The settings of servers that variables name. */
function toSettings(servers: readonly VariableServer[]): Config["mcpServers"] {
  return configSchema.parse({ mcpServers: servers.map(({ name, url }) => ({ name, url })) }).mcpServers;
}

/**
 * What files of the folder ask for.
 *
 * @param servers - The names of the MCP servers that such files name.
 */
function requestedBy(
  config: Config,
  servers: ReadonlySet<string>,
  from: PathOrigins & ServerPlace,
): TrustItem[] {
  const { origins } = from;
  return [
    ...config.mcpServers
      .filter(({ name, enabled }) => enabled && servers.has(name))
      .map((server) => serverItem(server, from)),
    ...mountItems(config, from),
    ...pathItems(config, from),
    ...keyItems(config, origins),
    ...queueItems(config, origins),
    ...storeItems(config, origins),
  ];
}

/** The problems of one source. What a mapping lacks is not said where a key of it has another name. */
function problemsOf(layer: Layer): ConfigProblem[] {
  const renamed = layer.problems.filter(
    ({ unknown, suggestion }) => unknown === true && suggestion !== undefined,
  );
  const isExplained = ({ path }: ConfigProblem): boolean =>
    renamed.some((problem) => path !== "" && problem.path.slice(0, problem.path.lastIndexOf(".")) === path);
  return [...layer.problems, ...checkLayer(layer).filter((problem) => !isExplained(problem))];
}

/** Whether the program or the environment set it, and no file. */
function isNamed(origin: Origin | undefined): boolean {
  return origin?.from === "argument" || origin?.from === "environment";
}

interface ChosenFile {
  file?: string | undefined;
  /** The variable that named it, for the error when it does not exist. */
  namedBy?: string | undefined;
  /** Whether it was found in the folder and not named by the user. */
  ofFolder?: boolean | undefined;
  warnings: string[];
}

async function chooseFile(
  cwd: string,
  file: string | false | undefined,
  sources: readonly EnvironmentSource[],
): Promise<ChosenFile> {
  if (file === false) return { warnings: [] };
  if (file !== undefined) return { file: resolve(cwd, file), warnings: [] };
  for (const { from, variables, ofFolder } of sources.toReversed()) {
    const named = variableValue(variables, FILE_VARIABLE);
    if (named !== undefined)
      return {
        file: resolve(cwd, named),
        namedBy: `${from} ${FILE_VARIABLE}`,
        ofFolder,
        warnings: [],
      };
  }
  return { ...(await findConfigFile(cwd)), ofFolder: true };
}

function sortByPosition(problems: ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted(
    (one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0),
  );
}
