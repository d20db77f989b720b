/** Keeps a workspace on this machine in step with a copy that machines share. */
export interface WorkspaceSync {
  readonly specificationVersion: "v1";
  /**
   * Fetches the changes of others, executes a run, and uploads its changes, also where it fails.
   *
   * @returns the result of the work, and remarks for it: files that were kept twice, or could not be uploaded.
   * @throws CemError `STORE_UNAVAILABLE`, `FILES_UNAVAILABLE` or `FILES_DAMAGED` before the run, which does not begin with
   *   old files; and any error of the work.
   */
  during<Result>(work: () => Promise<Result>): Promise<{ result: Result; remarks: string[] }>;
  /** Fetches what others changed. @returns remarks. @throws CemError as {@link WorkspaceSync.during}. */
  fetch(): Promise<string[]>;
  /** Puts back what was changed here. @returns remarks. @throws CemError as {@link WorkspaceSync.during}. */
  put(): Promise<string[]>;
  /** Waits for what is under way. */
  close(): Promise<void>;
}
