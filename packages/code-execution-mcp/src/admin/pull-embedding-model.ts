import type { ModelLock, PullProgress } from "@cem/selector";
import type { ServerSource } from "../options.ts";
import { createLog, logged } from "../wiring/log.ts";
import { openProject } from "../wiring/open-project.ts";
import { inspectSearch, modelsDirOf, namedModelOf } from "../wiring/stages/selector.ts";

/** Options of {@link pullEmbeddingModel}. */
export interface PullEmbeddingModelRequest extends ServerSource {
  /** `owner/name`, or with `@` and a revision. Default: the one that the configuration names, else a small one. */
  model?: string | undefined;
  onProgress?: ((progress: PullProgress) => void) | undefined;
}

/** A model that was pulled. */
export interface PulledEmbeddingModel {
  folder: string;
  lock: ModelLock;
  /** Whether search uses it as the configuration is. */
  isUsed: boolean;
}

/**
 * Pulls a sentence-embedding model into the cache.
 *
 * @throws CemError as `pullModel` of `@cem/selector` does, `CONFIG_INVALID` or `CONFIG_NOT_FOUND`.
 */
export async function pullEmbeddingModel({
  model,
  onProgress,
  ...source
}: PullEmbeddingModelRequest): Promise<PulledEmbeddingModel> {
  const [{ config }, { pullModel }] = await Promise.all([openProject(source), import("@cem/selector")]);
  const pulled = await logged(createLog(config, source.onLog), "pulling a model", () =>
    pullModel({
      model: model ?? namedModelOf(config),
      modelsDir: modelsDirOf(config),
      mirror: config.optimizations.modelMirror,
      onProgress,
      signal: source.signal,
    }),
  );
  const { model: used } = await inspectSearch(config);
  return { ...pulled, isUsed: used === pulled.lock.model };
}
