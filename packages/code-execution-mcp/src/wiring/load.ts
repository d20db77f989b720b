import { loadConfig } from "@cem/config";
import type { LoadedConfig } from "@cem/config";
import type { ConfigSource } from "../agent-options.ts";

/** Loads the configuration that an agent made from the same options has. */
export function loadFrom({ cwd, configFile, config }: ConfigSource): Promise<LoadedConfig> {
  return loadConfig({ cwd, file: configFile, overrides: config });
}
