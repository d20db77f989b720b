import type { Config } from "@cem/config";
import type { ResultStore, StateStore } from "@cem/core";
import { makeFolder } from "./make-folder.ts";

/** The store of what is too large for an answer: files in the workspace. */
export async function createConfiguredResults({ execution }: Config): Promise<ResultStore> {
  const { createResultStore } = await import("@cem/workspace");
  return createResultStore({ workspaceDir: execution.workspaceDir });
}

/** The store of state: files in the workspace. `undefined` where the configuration wants none. */
export async function createConfiguredState({ execution }: Config): Promise<StateStore | undefined> {
  const { enabled, workspaceDir, stateFile, stateFormat } = execution.state;
  if (!enabled) return undefined;
  const { createStateStore } = await import("@cem/workspace");
  await makeFolder(workspaceDir);
  return createStateStore({ workspaceDir, stateFile, format: stateFormat });
}
