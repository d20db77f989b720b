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

/**
 * Loads the configuration that an agent made from the same options has.
 *
 * @throws CemError as {@link loadConfig}, and `FOLDER_UNTRUSTED` where nothing can run before the folder is trusted.
 */
export async function loadFrom({
  cwd,
  configFile,
  config,
  trustFolder,
}: ConfigSource): Promise<LoadedConfig> {
  const loaded = await loadConfig({ cwd, file: configFile, overrides: config, trustFolder });
  if (loaded.trust.obstacle !== undefined) throw loaded.trust.obstacle;
  return loaded;
}
