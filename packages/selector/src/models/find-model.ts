import path from "node:path";
import { readLock } from "./model-lock.ts";
import { folderNameOf } from "./model-name.ts";
import type { PulledModel } from "./pull-model.ts";

/**
 * Finds a model that was pulled. Its files are checked when it is loaded.
 *
 * @param model - As it was pulled: `owner/name`, or `owner/name@revision`.
 * @returns `undefined` when it was not pulled.
 * @throws CemError `EMBEDDER_MODEL_NOT_FOUND` for what is no name of a model, `EMBEDDER_MODEL_CHANGED` for a lock that can't
 * be read.
 */
export async function findModel(modelsDir: string, model: string): Promise<PulledModel | undefined> {
  const folder = path.join(modelsDir, folderNameOf(model));
  const lock = await readLock(folder);
  return lock === undefined ? undefined : { folder, lock };
}
