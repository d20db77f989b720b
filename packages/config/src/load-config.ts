import { dirname, resolve } from "node:path";
import { withAbsolutePaths } from "./absolute-paths.ts";
import { bind } from "./bind.ts";
import { check } from "./check.ts";
import { findConfigFile, readConfigFile, readEnvFile } from "./config-file.ts";
import { environmentLayer, type EnvironmentSource } from "./environment.ts";
import { emptyLayer, type Origin } from "./layer.ts";
import { locate } from "./located.ts";
import { configInvalid, type ConfigProblem } from "./problem.ts";
import { mergeLayers } from "./merge.ts";
import { chooseProvider } from "./provider.ts";
import { shyConfig } from "./redact.ts";
import { type Config, type ConfigInput, configSchema } from "./schema.ts";
import { straySecrets, trustsFolder } from "./trust.ts";
import { FILE_VARIABLE, type Variables, variableValue } from "./variables.ts";

export interface LoadConfigOptions {
  /** Where config.yaml and .env are looked for. Default: the process's own. */
  cwd?: string | undefined;
  /** The configuration file; it has to exist. `false`: none. Default: `CEM_CONFIG`, else config.yaml or config.yml in `cwd`. */
  file?: string | false | undefined;
  /** Default: `process.env`. */
  env?: Variables | undefined;
  /** `false`: none. Default: `.env` in `cwd`. */
  envFile?: string | false | undefined;
  /** What the caller says wins over all else. */
  overrides?: ConfigInput | undefined;
  signal?: AbortSignal | undefined;
}

export interface LoadedConfig {
  config: Config;
  /** By the path of the setting: `origins["execution.sandbox_type"]`. Has every setting. */
  origins: Record<string, Origin>;
  /** Absolute path of the configuration file that was read. */
  file: string | undefined;
  warnings: string[];
  /** Looks up a variable in the environment and `.env`, as the configuration did. */
  variable: (name: string) => string | undefined;
}

/**
 * Loads the configuration: defaults, then config.yaml, then `.env`, then the environment, then `overrides`.
 *
 * A key of the user's own is not sent where files of the folder say, unless `CEM_TRUST_FOLDER` in `env` allows it.
 *
 * @throws CemError `CONFIG_INVALID` with everything that is wrong in `details.problems`; `CONFIG_NOT_FOUND` when a
 * file that was named does not exist.
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
    found.file === undefined ? emptyLayer() : await readConfigFile({ ...found, file: found.file }, signal);
  const argumentLayer = bind(locate(overrides), configSchema, {
    style: "camel",
    origin: () => ({ from: "argument", label: "argument" }),
  });
  const provider = chooseProvider([fileLayer, argumentLayer], sources);
  const environment = sources.map((source) => environmentLayer(source, provider));
  const layers = [fileLayer, ...environment.map(({ layer }) => layer), argumentLayer];
  const problems = layers.flatMap((layer) => inOrder([...layer.problems, ...check(layer)]));
  if (problems.length > 0) throw configInvalid(problems);
  const { values, origins } = mergeLayers(layers);
  const config = withAbsolutePaths(configSchema.parse(values), (path) => {
    const file = origins[path]?.file;
    return file === undefined ? cwd : dirname(file);
  });
  const strayed = trustsFolder(cwd, env) ? [] : straySecrets(config, origins, cwd);
  if (strayed.length > 0) throw configInvalid(strayed);
  const warnings = [found, dotenv, ...environment].flatMap((source) => source.warnings);
  return {
    config: shyConfig(config),
    origins,
    file: found.file,
    warnings,
    variable: (name) => env[name] ?? dotenv.variables[name],
  };
}

interface ChosenFile {
  file?: string | undefined;
  /** Who named it, for the error when it is missing. */
  namedBy?: string | undefined;
  /** It was found, not named by the user. */
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
  for (const { from, variables, ofFolder = false } of sources.toReversed()) {
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

function inOrder(problems: ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted(
    (one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0),
  );
}
