import type * as ConfigPackage from "@cem/config";
import type { ConfigSource } from "../agent-options.ts";
import { Lazy } from "@cem/core";
import type { CallGuardOptions } from "./call-guards.ts";
import { forCustomer } from "./customer.ts";
import type { LoadedFor } from "./customer.ts";
import { lazySync } from "./shared-files.ts";
import { lazyPlugins } from "./plugins.ts";
import type { PluginOptions } from "./plugins.ts";
import { vaultWarnings } from "./vaults.ts";

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
 * Loads the configuration that an agent made from the same options has, with the folders of the customer that the options
 * or the configuration name.
 *
 * @throws CemError as `loadConfig`, `CUSTOMER_INVALID`, and `FOLDER_UNTRUSTED` where nothing can run before the folder is
 * trusted.
 */
export async function loadFrom(
  source: ConfigSource & PluginOptions & Pick<CallGuardOptions, "onPlannedWrite">,
): Promise<LoadedFor> {
  const { cwd, configFile, config, trustFolder, customer, plugins = [] } = source;
  const hasPlugins = plugins.length > 0;
  const found = await loadConfig({ cwd, file: configFile, overrides: config, trustFolder, hasPlugins });
  if (found.trust.obstacle !== undefined) throw found.trust.obstacle;
  const openPlugins = (): LoadedFor["pluginSet"] => lazyPlugins(found, source);
  const store = storeOf(found);
  const warnings = [...found.warnings, ...vaultWarnings(found)];
  const loaded: LoadedFor = { ...found, warnings, pluginSet: openPlugins(), openPlugins, store };
  const id = customer ?? loaded.config.customers.id;
  if (id === undefined) return { ...loaded, sync: lazySync(loaded) };
  const { requireCustomerId } = await import("@cem/workspace");
  const known = requireCustomerId(id);
  if (source.onPlannedWrite === undefined || store !== undefined) return forCustomer(loaded, known);
  const { withCopyOfCustomer } = await import("./dry-run.ts");
  return forCustomer(await withCopyOfCustomer(loaded, known), known);
}

/** The store of a configuration, which is opened when it is first needed. */
export function storeOf({ config }: Pick<LoadedFor, "config">): LoadedFor["store"] {
  const { url } = config.store;
  if (url === undefined) return undefined;
  return new Lazy(async () => (await import("./shared-store.ts")).openStore(config, url));
}
