import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { textOfFile } from "@cem/core/files";

/** Shared libraries that the Deno binary is linked against. */
const LIBRARIES = ["libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libgcc_s.so.1"];
/** Libraries that older versions of glibc load for name resolution. */
const NETWORK_LIBRARIES = ["libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"];
/** Files of the host that name resolution and TLS need. */
export const NETWORK_FILES: readonly string[] = [
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/ssl",
  "/etc/pki",
  "/etc/ca-certificates",
  "/usr/share/ca-certificates",
];
const LOADERS = { x64: "/lib64/ld-linux-x86-64.so.2", arm64: "/lib/ld-linux-aarch64.so.1" } as const;
const WHOLE_FOLDERS = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];

/**
 * Finds the dynamic loader and the libraries that Deno needs, next to this process's C library; `undefined` when one is
 * missing.
 */
export function findLibraries(): { loader: string; libraries: string[]; folder: string } | undefined {
  const loader = LOADERS[process.arch as keyof typeof LOADERS];
  const folder = folderOfLibc();
  if (loader === undefined || !existsSync(loader) || folder === undefined) return undefined;
  const libraries = LIBRARIES.map((name) => join(folder, name));
  return libraries.every((file) => existsSync(file)) ? { loader, libraries, folder } : undefined;
}

/**
 * Paths of the host that Deno needs to start: individual libraries if all are found, otherwise the system's library
 * folders.
 *
 * @param network - Whether the guest resolves names.
 */
export function systemLibraries(network: boolean): string[] {
  const found = findLibraries();
  if (found !== undefined) {
    const { loader, libraries, folder } = found;
    const more = NETWORK_LIBRARIES.map((name) => join(folder, name)).filter((file) => existsSync(file));
    return [loader, ...libraries, ...(network ? more : [])];
  }
  return WHOLE_FOLDERS.filter((path) => existsSync(path));
}

function folderOfLibc(): string | undefined {
  const match = /(?<!\S)(\/\S*\/libc\.so\.6)$/m.exec(textOfFile("/proc/self/maps") ?? "");
  return match?.[1] === undefined ? undefined : dirname(match[1]);
}
