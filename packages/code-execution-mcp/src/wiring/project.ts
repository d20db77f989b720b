import type { LoadedConfig } from "@cem/config";
import type { Lazy, RunRecords, Store, WorkspaceSync } from "@cem/core";
import type { CustomerFolder, OwnerQuota } from "@cem/workspace";
import type { PluginSet } from "../plugins/open-plugins.ts";

/** The owner of the folders that a project names. */
export interface ProjectOwner extends CustomerFolder {
  /** The skills that all owners see. */
  sharedSkillsDir: string;
  quotas: readonly OwnerQuota[];
}

/** A configuration, with the folders of its owner. */
export interface OwnedConfig extends LoadedConfig {
  /** Absent: the folders are the project's own. */
  readonly owner?: ProjectOwner | undefined;
}

/** A configuration and the parts that were opened with it. Nothing of it is changed after it was made. */
export interface Project extends OwnedConfig {
  /** The additions of plugins, loaded when they are first needed. */
  readonly pluginSet?: Lazy<PluginSet> | undefined;
  /** The store that machines share, for all owners. `undefined` where each machine keeps its own. */
  readonly store?: Lazy<Store> | undefined;
  /** Records of the runs. `undefined` where none are kept. */
  readonly records?: RunRecords | undefined;
  /** Keeps the workspace in step with other machines. `undefined` where it is this machine's only. */
  readonly sync?: Lazy<WorkspaceSync> | undefined;
  /**
   * Makes the project of an owner: workspace, state, skills and sign-ins are the owner's, with plugins and records of its own.
   * Tools stay shared, and nothing can write them.
   *
   * @param id - Checked or derived before.
   */
  readonly forOwner: (id: string) => Promise<Project>;
  /** Frees the parts that were opened with this project. */
  readonly dispose: () => Promise<void>;
}

/** The folder with one folder for each owner. */
export function ownersDirOf({ customers }: Pick<LoadedConfig["config"], "customers">): string {
  return customers.dir;
}

/** The configuration with another folder for the folders of owners. */
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
export async function refreshSkills({
  sharedSkillsDir: shared,
  skillsDir: own,
  mergedSkillsDir: into,
}: ProjectOwner): Promise<void> {
  const { mergeSkills } = await import("@cem/skills");
  await mergeSkills({ shared, own, into });
}
