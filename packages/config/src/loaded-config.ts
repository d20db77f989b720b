import type { Origin } from "./layer.ts";
import type { Config, ConfigInput } from "./schema/schema.ts";
import type { FolderTrust } from "./trust/folder-trust.ts";
import type { PluginSource } from "./trust/plugins.ts";
import type { Variables } from "./environment.ts";

export interface LoadConfigOptions {
  /**
   * The folder in which a configuration file is looked for when none is named, and from which `file`, `envFile` and relative
   * paths in `overrides` count.
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
   * Whether to allow what files of the folder (config.yaml, .env) ask for: MCP servers, host tools, places outside of it, the
   * user's keys for its addresses, settings that could do harm. `false` takes a file that `file` names for one of the folder, too.
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
  /**
   * Absolute path of the project: the folder of the configuration file, else `cwd`. Relative paths count from it, except those
   * in `overrides`, and commands of MCP servers start in it.
   */
  folder: string;
  /** Ignored settings with the reason, one sentence each. */
  warnings: string[];
  /** Host access that files of the folder request, and which of it is blocked until trusted. */
  trust: FolderTrust;
  /** The plugins in their order. None was loaded; those that are held back are in `trust.held`. */
  plugins: readonly PluginSource[];
  /** Looks up a variable in the environment and then in `.env`. */
  variable: (name: string) => string | undefined;
}
