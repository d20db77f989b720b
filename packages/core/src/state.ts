import type { JsonValue } from "./json.ts";

/** State that outlives a run: JSON files in the workspace, which guest code reads and writes as files. */
export interface StateStore {
  readonly specificationVersion: "v1";
  /**
   * Reads a state file. Default: the configured one.
   *
   * @throws CemError `STATE_PATH_INVALID` for a path outside the workspace, `STATE_UNREADABLE` for a broken file.
   */
  read(
    file?: string,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<{ exists: boolean; data: JsonValue }>;
  /**
   * Replaces a state file, whole or not at all, and tells its path as the guest sees it.
   *
   * @throws CemError `STATE_PATH_INVALID` or `STATE_TOO_LARGE`.
   */
  save(
    data: JsonValue,
    file?: string,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<{ file: string }>;
}
