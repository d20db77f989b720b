import type * as ConfigPackage from "@cem/config";
import type { Config, LoadedConfig } from "@cem/config";
import { Lazy, type Store } from "@cem/core";
import type { ConfigSource } from "../options.ts";
import { lazyPlugins, type PluginOptions } from "../plugins/configured-plugins.ts";
import type { CallGuardOptions } from "./calls/call-guards.ts";
import { logFileWarnings } from "./log.ts";
import { openCustomerFolders } from "./http/clients.ts";
import { vaultWarnings } from "./privacy/vaults.ts";
import { offerPackages } from "./packages.ts";
import { refreshSkills, type OwnedConfig, type Project } from "./project.ts";
import { openConfiguredRecords, type RecordsLog } from "./records/run-records.ts";
import { lazySync } from "./shared/files.ts";
import { hasSkills } from "./skills.ts";

/**
 * Loads the configuration from the defaults, config.yaml, `.env`, the environment and the option `config`; later sources take
 * precedence.
 *
 * @throws CemError `CONFIG_INVALID` with all problems in `details.problems`; `CONFIG_NOT_FOUND` when a named file does
 * not exist.
 */
export const loadConfig: typeof ConfigPackage.loadConfig = async (options) =>
  (await import("@cem/config")).loadConfig(options);

type ProjectSource = ConfigSource & PluginOptions & Pick<CallGuardOptions, "onPlannedWrite">;

/** The parts that are opened with every project of one source. */
interface Opening {
  source: ProjectSource;
  store: Lazy<Store> | undefined;
  counts: Project["counts"];
  recordsLog: RecordsLog | undefined;
}

/**
 * Opens the project that an agent with the same options uses, with the folders of the customer named by the options or the
 * configuration. Parts are opened on first use.
 *
 * @param recordsLog - Returns the log for failures to record runs. Absent: no runs are recorded.
 * @throws CemError as `loadConfig`, `CUSTOMER_INVALID`, and `FOLDER_UNTRUSTED` if nothing can run before the folder is
 * trusted.
 */
export async function openProject(source: ProjectSource, recordsLog?: RecordsLog): Promise<Project> {
  const { cwd, configFile, config, trustFolder, plugins = [] } = source;
  const loaded = await loadConfig({ cwd, configFile, config, trustFolder, hasPlugins: plugins.length > 0 });
  if (loaded.trust.obstacle !== undefined) throw loaded.trust.obstacle;
  const found = {
    ...loaded,
    warnings: [...loaded.warnings, ...vaultWarnings(loaded), ...logFileWarnings(loaded)],
  };
  const store = storeOf(found.config);
  const counts = new Lazy(async () => (await import("@cem/guardrails/calls")).countCalls(await store?.get()));
  const opening = { source, store, counts, recordsLog };
  const project = await openFor(found, opening);
  const endOffer = offerPackages(found);
  return {
    ...project,
    async [Symbol.asyncDispose]() {
      endOffer();
      await project[Symbol.asyncDispose]();
    },
  };
}

async function openFor(found: LoadedConfig, opening: Opening): Promise<Project> {
  const { customer, onPlannedWrite } = opening.source;
  const closeStore = async (): Promise<void> => (await opening.store?.settled())?.close();
  const id = customer ?? found.config.customers.id;
  if (id === undefined) return projectOf(found, opening, closeStore);
  const { customerIdOfClaim, requireCustomerId } = await import("@cem/workspace");
  const known = found.config.customers.claim === undefined ? requireCustomerId(id) : customerIdOfClaim(id);
  if (onPlannedWrite === undefined || opening.store !== undefined)
    return projectForOwner(found, known, opening, closeStore);
  const { copyOwner } = await import("./dry-run/dry-run.ts");
  const copied = await copyOwner(found.config, known);
  return projectForOwner({ ...found, config: copied.config }, known, opening, copied.remove);
}

export function storeOf(config: Config): Lazy<Store> | undefined {
  const { url } = config.store;
  if (url === undefined) return undefined;
  return new Lazy(async () => (await import("./shared/store.ts")).openStore(config, url));
}

function projectOf(found: OwnedConfig, opening: Opening, release = async (): Promise<void> => {}): Project {
  const { source, store, counts, recordsLog } = opening;
  const { owner } = found;
  const pluginSet = lazyPlugins(found, source);
  const parts = { ...found, pluginSet, store, counts };
  const records = recordsLog && openConfiguredRecords(parts, recordsLog);
  return {
    ...parts,
    records,
    sync: lazySync(parts, owner && (() => refreshSkills(owner))),
    forOwner: (id) => projectForOwner(found, id, opening),
    async [Symbol.asyncDispose]() {
      await (await pluginSet?.settled())?.dispose();
      await records?.close();
      await release();
    },
  };
}

async function projectForOwner(
  loaded: LoadedConfig,
  id: string,
  opening: Opening,
  release?: () => Promise<void>,
): Promise<Project> {
  const { execution, customers, optimizations } = loaded.config;
  const folders = await openCustomerFolders({ config: loaded.config, store: opening.store });
  const folder = await folders.open(id);
  const { workspaceDir, mergedSkillsDir: skillsDir, workflowsDir: workflowRunsDir } = folder;
  const owner = { ...folder, sharedSkillsDir: execution.skillsDir, quotas: customers.quotas };
  await refreshSkills(owner);
  const state = { ...execution.state, workspaceDir };
  // Owners without skills of their own search the same catalog and share its index.
  const searchCacheDir = (await hasSkills(folder.skillsDir)) ? folder.cacheDir : optimizations.searchCacheDir;
  const config = {
    ...loaded.config,
    execution: { ...execution, workspaceDir, skillsDir, workflowRunsDir, state },
    optimizations: { ...optimizations, searchCacheDir },
  };
  return projectOf({ ...loaded, config, owner }, opening, release);
}
