import type * as ConfigPackage from "@cem/config";
import type { LoadedConfig } from "@cem/config";
import { Lazy } from "@cem/core";
import type { RunRecords, Store, WorkspaceSync } from "@cem/core";
import type { CustomerFolder } from "@cem/workspace";
import type { ConfigSource } from "../options.ts";
import { lazyPlugins } from "../plugins/configured-plugins.ts";
import type { PluginOptions } from "../plugins/configured-plugins.ts";
import type { PluginSet } from "../plugins/open-plugins.ts";
import type { CallGuardOptions } from "./calls/call-guards.ts";
import { vaultWarnings } from "./privacy/vaults.ts";
import { lazySync } from "./shared/files.ts";
import { hasSkills } from "./stages/stages.ts";

/** Whose configuration it is. */
export interface Customer extends CustomerFolder {
  /** The skills that all customers see. */
  sharedSkillsDir: string;
}

/** A configuration, and the customer whose folders it names. */
export interface LoadedFor extends LoadedConfig {
  customer?: Customer | undefined;
  /** What plugins add, opened when it is first needed. Whoever loaded the configuration disposes it. */
  pluginSet?: Lazy<PluginSet> | undefined;
  /**
   * What machines share, opened when it is first needed; that of all customers. Whoever loaded the configuration closes it.
   * `undefined` where each machine keeps its own.
   */
  store?: Lazy<Store> | undefined;
  /** Records of the runs. Whoever opened them closes them. `undefined` where none are kept. */
  records?: RunRecords | undefined;
  /** Keeps the workspace in step with other machines. `undefined` where it is this machine's only. */
  sync?: Lazy<WorkspaceSync> | undefined;
  /** Removes what was copied for a dry run. */
  discard?: (() => Promise<void>) | undefined;
  /** Opens the plugins once more, for another customer. */
  openPlugins?: (() => Lazy<PluginSet> | undefined) | undefined;
}

/** Frees what was opened for a configuration: plugins, records and the store. */
export async function disposeLoaded(loaded: LoadedFor): Promise<void> {
  await disposePlugins(loaded);
  await loaded.records?.close();
  await (await loaded.store?.settled())?.close();
  await loaded.discard?.();
}

/** Lets the plugins free what they hold, where they were opened. */
export async function disposePlugins({ pluginSet }: LoadedFor): Promise<void> {
  await (await pluginSet?.settled())?.dispose();
}

/**
 * Gives a configuration the folders of one customer: workspace, state, skills, sign-ins. Tools stay shared, and nothing
 * can write them.
 *
 * @param id - Checked or derived before.
 */
export async function forCustomer(loaded: LoadedFor, id: string): Promise<LoadedFor> {
  const { createCustomerFolders } = await import("@cem/workspace");
  const { execution, customers, optimizations } = loaded.config;
  const store = await loaded.store?.get();
  const folder = await createCustomerFolders(customers.dir, { store }).open(id);
  const { workspaceDir, mergedSkillsDir: skillsDir, workflowsDir: workflowRunsDir } = folder;
  const customer: Customer = { ...folder, sharedSkillsDir: execution.skillsDir };
  await refreshSkills(customer);
  const state = { ...execution.state, workspaceDir };
  // Without skills of their own, customers search the same catalog, whose index they share.
  const searchCacheDir = (await hasSkills(folder.skillsDir)) ? folder.cacheDir : optimizations.searchCacheDir;
  const own: LoadedFor = {
    ...loaded,
    pluginSet: loaded.openPlugins?.(),
    records: undefined,
    config: {
      ...loaded.config,
      execution: { ...execution, workspaceDir, skillsDir, workflowRunsDir, state },
      optimizations: { ...optimizations, searchCacheDir },
    },
    customer,
  };
  return { ...own, sync: lazySync(own, () => refreshSkills(customer)) };
}

/** Brings what a customer's code sees of skills up to date. */
export async function refreshSkills(customer: Customer): Promise<void> {
  const { mergeSkills } = await import("@cem/skills");
  const { sharedSkillsDir: shared, skillsDir: own, mergedSkillsDir: into } = customer;
  await mergeSkills({ shared, own, into });
}

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
  const { withCopyOfCustomer } = await import("./dry-run/dry-run.ts");
  return forCustomer(await withCopyOfCustomer(loaded, known), known);
}

/** The store of a configuration, which is opened when it is first needed. */
export function storeOf({ config }: Pick<LoadedFor, "config">): LoadedFor["store"] {
  const { url } = config.store;
  if (url === undefined) return undefined;
  return new Lazy(async () => (await import("./shared/store.ts")).openStore(config, url));
}
