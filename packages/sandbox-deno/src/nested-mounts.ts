import { readFileSync } from "node:fs";

/** A file system mounted somewhere below a folder. */
export interface NestedMount {
  /** Absolute path on the host. */
  path: string;
  readOnly: boolean;
  /** The kernel lets no user namespace take this option away again. */
  noExec: boolean;
}

/** Finds what is mounted below a folder of this host, as containers mount drivers and secrets below `/usr`. */
export function findNestedMounts(folder: string): NestedMount[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return lines.flatMap((line) => {
    const [, , , , place = "", options = ""] = line.split(" ");
    const path = place.replaceAll(/\\(\d{3})/g, (_, code: string) =>
      String.fromCodePoint(Number.parseInt(code, 8)),
    );
    if (!path.startsWith(`${folder}/`)) return [];
    const set = new Set(options.split(","));
    return [{ path, readOnly: set.has("ro"), noExec: set.has("noexec") }];
  });
}
