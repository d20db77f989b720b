import type { JsonValue } from "./json.ts";

/** Options of an operation on state. */
export interface StateOptions {
  signal?: AbortSignal | undefined;
}

/** Options of {@link StateStore.save}. */
export interface SaveStateOptions extends StateOptions {
  /**
   * The version that the data is based on, as {@link StateStore.read} gave it; empty for a file that did not exist. When the
   * file has another one by now, both changes are merged if they changed different keys; else saving fails. Absent: what
   * is there is replaced.
   */
  version?: string | undefined;
}

/** Result of {@link StateStore.read}. */
export interface ReadState {
  exists: boolean;
  data: JsonValue;
  /** Identifies the file's content. Empty where there is no file. */
  version: string;
}

/** Result of {@link StateStore.save}. */
export interface SavedState {
  /** The file's path in the sandbox. */
  file: string;
  version: string;
  /** Whether what others had saved meanwhile was merged with the data. */
  merged?: boolean | undefined;
  /** The path in the sandbox under which a broken file was kept that stood there before. */
  keptAside?: string | undefined;
}

/** State that outlives a run: files in the workspace, which code in the sandbox reads and writes as files. */
export interface StateStore {
  readonly specificationVersion: "v1";
  /**
   * Reads a state file.
   *
   * @param file - Path within the workspace. Default: the configured state file.
   * @throws CemError `STATE_PATH_INVALID` for a path outside the workspace, `STATE_UNREADABLE` for a file that can't be
   *   read or parsed, `STATE_TOO_LARGE`.
   */
  read(file?: string, options?: StateOptions): Promise<ReadState>;
  /**
   * Replaces a state file atomically, also between processes.
   *
   * @param file - Path within the workspace. Default: the configured state file.
   * @throws CemError `STATE_PATH_INVALID`, `STATE_TOO_LARGE`, `STATE_BUSY`, `DISK_FULL`, `NOT_WRITABLE`, or
   *   `STATE_CONFLICT` when the file is not of the given version and someone else changed the same keys.
   */
  save(data: JsonValue, file?: string, options?: SaveStateOptions): Promise<SavedState>;
}
