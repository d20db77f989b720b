import type { Config } from "@cem/config";
import { CemError, type ResultStore, type SessionLog, type StateStore } from "@cem/core";
import { makeFolder } from "@cem/core/files";
import type { AgentOptions } from "../../options.ts";
import type { Project } from "../project.ts";
import { sessionNumbers, shareState } from "../shared/files.ts";

/** The store of results that are too large to return: files in the workspace. */
export async function createConfiguredResults({ execution }: Config): Promise<ResultStore> {
  const { createResultStore } = await import("@cem/workspace");
  return createResultStore({ workspaceDir: execution.workspaceDir });
}

/** The store of results that a server reads, which may come from a run on another machine. */
export async function createServedResults({ config, sync }: Project): Promise<ResultStore> {
  const results = await createConfiguredResults(config);
  if (sync === undefined) return results;
  return {
    specificationVersion: "v1",
    write: (bytes, mimeType, name) => results.write(bytes, mimeType, name),
    read: async (file, range) => {
      try {
        return await results.read(file, range);
      } catch (error) {
        if (!CemError.isInstance(error) || error.code !== "RESULT_NOT_FOUND") throw error;
        await (await sync.get()).fetch();
        return results.read(file, range);
      }
    },
  };
}

/** Maximum size of state that a client reads or saves with a tool. Code can use larger files. */
const MAX_STATE_BYTES = 256 * 1024;

/** The store of state: files in the workspace. `undefined` if disabled. */
export async function createConfiguredState({ config, sync }: Project): Promise<StateStore | undefined> {
  const { enabled, workspaceDir, stateFile, stateFormat } = config.execution.state;
  if (!enabled) return undefined;
  const { createStateStore } = await import("@cem/workspace");
  makeWorkspace(workspaceDir);
  return shareState(
    createStateStore({ workspaceDir, stateFile, format: stateFormat, maxBytes: MAX_STATE_BYTES }),
    sync,
  );
}

/** The folder that holds the folder `sessions`: the workspace, or an owner's own, where code can't write. */
export function logDirOf({ config, owner }: Pick<Project, "config" | "owner">): string {
  return owner?.home ?? config.execution.workspaceDir;
}

/**
 * The log of sessions: files in the workspace. `undefined` if disabled.
 *
 * @param onProblem - Receives the error if a log can't be written.
 */
export async function createConfiguredSessions(
  loaded: Project,
  { resume, sessions }: Pick<AgentOptions, "resume" | "sessions">,
  onProblem: (error: unknown) => void,
): Promise<SessionLog | undefined> {
  const { config, owner } = loaded;
  const { execution, server } = config;
  const { state, workspaceDir } = execution;
  // Users of one server share its workspace, and must not read each other's logs.
  const isWanted =
    sessions ?? (state.enabled && state.autoSave && (owner !== undefined || server.authIssuer === undefined));
  if (!isWanted && resume === undefined) return undefined;
  const { createSessionLog, followFolder } = await import("@cem/workspace");
  const logDir = logDirOf({ config, owner });
  const isThere = owner && followFolder(owner.home);
  await isThere?.();
  return createSessionLog({
    workspaceDir,
    logDir,
    isThere,
    ownerId: owner?.id,
    resume,
    onProblem,
    nextNumber: sessionNumbers(loaded),
  });
}

/** @throws CemError `WORKSPACE_UNUSABLE` */
export function makeWorkspace(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw new CemError(
      "WORKSPACE_UNUSABLE",
      `The workspace ${folder} can't be made: ${error instanceof Error ? error.message : String(error)}.`,
      { details: { folder }, cause: error },
    );
  }
}
