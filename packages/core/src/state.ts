import type { JsonValue } from "./json.ts";

/** State that outlives a run: JSON files in the workspace, which code in the sandbox reads and writes as files. */
export interface StateStore {
  readonly specificationVersion: "v1";
  /**
   * Reads a state file.
   *
   * @param file - Path within the workspace. Default: the configured state file.
   * @throws CemError `STATE_PATH_INVALID` for a path outside the workspace, `STATE_UNREADABLE` for a file that can't be
   *   read or parsed.
   */
  read(
    file?: string,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<{ exists: boolean; data: JsonValue }>;
  /**
   * Replaces a state file atomically.
   *
   * @param file - Path within the workspace. Default: the configured state file.
   * @returns the file's path in the sandbox.
   * @throws CemError `STATE_PATH_INVALID` or `STATE_TOO_LARGE`.
   */
  save(
    data: JsonValue,
    file?: string,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<{ file: string }>;
}
