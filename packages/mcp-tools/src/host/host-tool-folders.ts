import type { CemError } from "@cem/core";
import type { OwnPackage } from "@cem/core/files";

/** Where files of host tools stand, and which of them may run on the host. */
export interface HostToolFolders {
  /** The folder that holds `<server>/<tool>.host.ts`. Absolute. */
  serversDir: string;
  /** Folders that guest code can write to. A file in one of them is never run. Absolute. */
  writableDirs: readonly string[];
  /**
   * Why a file may not be imported.
   *
   * @defaultValue each may be
   */
  obstacleOf?: ((tool: string, file: string) => Promise<CemError | undefined>) | undefined;
  /** The package that such files may import where nothing is installed beside them. */
  ownPackage?: OwnPackage | undefined;
}
