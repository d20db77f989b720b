import { dirname, resolve } from "node:path";
import { withAbsolutePaths } from "./absolute-paths.ts";
import { bind } from "./bind.ts";
import { checkLayer } from "./check.ts";
import { chooseFile } from "./choose-file.ts";
import { readConfigFile, readEnvFile } from "./config-file.ts";
import { environmentLayer } from "./environment.ts";
import { emptyLayer, type Layer, type Origin } from "./layer.ts";
import type { LoadConfigOptions, LoadedConfig } from "./loaded-config.ts";
import { locate } from "./located.ts";
import { configInvalid, type ConfigProblem } from "./problem.ts";
import { mergeLayers } from "./merge.ts";
import { chooseProvider, noticeOfIdleModel } from "./provider.ts";
import { warnOfRemovedVariables } from "./python-original.ts";
import { redactWhenPrinted } from "./redact.ts";
import { builtInSandbox, namesPlugins, sandboxProblems } from "./sandbox-name.ts";
import { type Config, configSchema } from "./schema.ts";
import { openFolderTrust } from "./trust/folder-trust.ts";
import { withoutHeld } from "./trust/hold-back.ts";
import { realPath } from "./trust/places.ts";
import { findPlugins, requestedBy } from "./trust/requests.ts";
import { serversOfVariables, type VariableServer } from "./variable-servers.ts";

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

/** The settings of servers that variables name. */
function toSettings(servers: readonly VariableServer[]): Config["mcpServers"] {
  return configSchema.parse({ mcpServers: servers.map(({ name, url }) => ({ name, url })) }).mcpServers;
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

function sortByPosition(problems: ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted(
    (one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0),
  );
}
