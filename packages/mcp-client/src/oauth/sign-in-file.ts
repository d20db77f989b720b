import { createHash } from "node:crypto";
import { join } from "node:path";

/** The URL a sign-in is stored under: without credentials, query and fragment. */
export function storeKey(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** The file in which a folder of sign-ins keeps that to a server. */
export function signInFile(folder: string, url: string): string {
  return join(folder, `${createHash("sha256").update(storeKey(url)).digest("hex").slice(0, 32)}.json`);
}
