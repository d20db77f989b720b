import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const SYSTEM_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];

/** The absolute path of a program in the system's folders or on `PATH`; `undefined` when it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...SYSTEM_FOLDERS, ...(process.env["PATH"] ?? "").split(delimiter)];
  for (const folder of folders) {
    if (!folder.startsWith("/")) continue;
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}
