import type * as ConfigPackage from "@cem/config";
import type { LoadedConfig } from "@cem/config";
import type { ConfigSource } from "../agent-options.ts";

/**
 * Loads the configuration from the defaults, config.yaml, `.env`, the environment and `overrides`; later sources take
 * precedence.
 *
 * @throws CemError `CONFIG_INVALID` with all problems in `details.problems`; `CONFIG_NOT_FOUND` when a named file does
 * not exist.
 */
export const loadConfig: typeof ConfigPackage.loadConfig = async (options) =>
  (await import("@cem/config")).loadConfig(options);

/** Loads the configuration that an agent made from the same options has. */
export function loadFrom({ cwd, configFile, config, trustFolder }: ConfigSource): Promise<LoadedConfig> {
  return loadConfig({ cwd, file: configFile, overrides: config, trustFolder });
}
