import { hash } from "node:crypto";
import { join } from "node:path";

/** A URL without credentials, query and fragment. */
export function plainUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** The storage key of a sign-in: the plain URL, with a digest of its query and of a configured client, which may be secret. */
export function storeKey(url: string, clientId?: string): string {
  const { search } = new URL(url);
  if (search === "" && clientId === undefined) return plainUrl(url);
  return `${plainUrl(url)}#${hash("sha256", JSON.stringify([search, clientId]))}`;
}

export function signInFile(folder: string, key: string): string {
  return join(folder, `${hash("sha256", key).slice(0, 32)}.json`);
}
