import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcessFolder } from "@cem/core/files";

/** Creates a folder that only this user can read. It is removed when the process exits. */
export function createPrivateDir(): string {
  const path = createProcessFolder(tmpdir(), "cem-deno");
  mkdirSync(join(path, "root"));
  return path;
}
