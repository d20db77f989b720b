import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const USUAL_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];

/** The absolute path of a system program, or `undefined` when there is none. */
export function findProgram(name: string): string | undefined {
  const folders = [...USUAL_FOLDERS, ...(process.env["PATH"] ?? "").split(delimiter)];
  for (const folder of folders) {
    if (!folder.startsWith("/")) continue;
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not here.
    }
  }
  return undefined;
}
