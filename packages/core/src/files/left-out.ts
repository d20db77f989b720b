import { fileURLToPath } from "node:url";

/** The error for a file of a package that can't be read, since a bundler did not take it along. */
export function leftOutOfBundle(file: URL, cause: unknown): Error {
  const message = `${fileURLToPath(file)} is missing. Bundlers leave it out: keep these packages external.`;
  return new Error(message, { cause });
}
