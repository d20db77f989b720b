import path from "node:path";
import type { LoadedConfig, Config } from "@cem/config";
import { CemError, type Lazy, type RunRecords, type Store, type WorkspaceSync } from "@cem/core";
import type { CallCounts } from "@cem/guardrails/calls";
import type { CustomerFolder, CustomerQuota } from "@cem/workspace";
import type { PluginSet } from "../plugins/open-plugins.ts";

/** The owner of the folders that a project names. */
export interface ProjectOwner extends CustomerFolder {
  /** The skills that all owners see. */
  sharedSkillsDir: string;
  quotas: readonly CustomerQuota[];
}

export interface OwnedConfig extends LoadedConfig {
  /** Absent: the folders are the project's own. */
  readonly owner?: ProjectOwner | undefined;
}

/** A configuration and the parts that were opened with it, which are freed with it. Immutable. */
export interface Project extends OwnedConfig, AsyncDisposable {
  /** The additions of plugins, loaded on first use. */
  readonly pluginSet?: Lazy<PluginSet> | undefined;
  /** The store shared by machines, for all owners. `undefined` if each machine has its own data. */
  readonly store?: Lazy<Store> | undefined;
  /**
   * Counts calls for `guardrails.rate_limits`, for all owners, so that a customer's counts outlive its agent and the
   * customer itself.
   */
  readonly counts: Lazy<CallCounts>;
  /** Records of the runs. `undefined` where none are kept. */
  readonly records?: RunRecords | undefined;
  /** Synchronizes the workspace with other machines. `undefined` if it is local to this machine. */
  readonly sync?: Lazy<WorkspaceSync> | undefined;
  /**
   * Creates the project of an owner, with the owner's workspace, state, skills and sign-ins, and separate plugins and
   * records. Tools stay shared and read-only.
   *
   * @param id - Already validated or derived.
   */
  readonly forOwner: (id: string) => Promise<Project>;
}

/** The quota key of a customer, which also identifies it in logs. */
export function quotaKeyOf(id: string): string {
  return `customer ${id}`;
}

export function withOwnersDir(config: LoadedConfig["config"], dir: string): LoadedConfig["config"] {
  return { ...config, customers: { ...config.customers, dir } };
}

/** A project whose agents keep no guest ready. */
export function withoutPool<Pooled extends Pick<LoadedConfig, "config">>(project: Pooled): Pooled {
  const { config } = project;
  const optimizations = { ...config.optimizations, sandboxPooling: false };
  return { ...project, config: { ...config, optimizations } };
}

/** Brings the skills that an owner's code sees up to date. */
export async function refreshSkills(owner: ProjectOwner): Promise<void> {
  const { sharedSkillsDir: shared, skillsDir: own, mergedSkillsDir: into } = owner;
  const { mergeSkills } = await import("@cem/skills");
  await mergeSkills({ shared, own, into });
}

/**
 * The folder of sign-ins: the user's, shared by all projects, unless `CEM_AUTH_DIR` is set.
 *
 * @param project - The folder that a relative `CEM_AUTH_DIR` is resolved against.
 */
export async function authFolder(project: string): Promise<string> {
  const { CEM_AUTH_DIR: own } = process.env;
  if (own !== undefined && own !== "") return path.resolve(project, own);
  const { userConfigFolder } = await import("@cem/config");
  return path.join(userConfigFolder(process.env), "auth");
}

/** A folder that only the host may access. */
export interface HostFolder {
  folder: string;
  /** Its contents, as the subject of an error message: `Runs of workflows`. */
  what: string;
  /** The setting that names it. */
  setting: string;
  /** Further folders that code can reach. */
  reached?: readonly string[] | undefined;
  /** A folder that counts as out of reach, since code gets a different one in its place. */
  besides?: string | undefined;
}

/** Refuses a folder that code in the sandbox could read or change. @throws CemError `CONFIG_INVALID` */
export async function assertOutOfReach(
  { execution }: Config,
  { folder, what, setting, reached: others = [], besides }: HostFolder,
): Promise<void> {
  const { isWithin, realPath } = await import("@cem/config");
  const { workspaceDir, state, serversDir, skillsDir, mountDirectories } = execution;
  const shown = [workspaceDir, state.workspaceDir, serversDir, skillsDir].filter((one) => one !== besides);
  const reached = [...shown, ...mountDirectories.map(({ host }) => host), ...others];
  const real = realPath(folder);
  const around = reached.find((one) => isWithin(realPath(one), real) || isWithin(real, realPath(one)));
  if (around === undefined) return;
  const message = `${what} would be kept in ${folder}, and code in the sandbox can reach ${around}. Set ${setting} to a folder outside of it.`;
  throw new CemError("CONFIG_INVALID", message, { details: { setting, folder, reached: around } });
}

/** The folder of an owner's vault, in the owner's home. */
export function vaultIn(home: string): string {
  return path.join(home, "vault");
}
