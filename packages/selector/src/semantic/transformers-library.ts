import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { CemError } from "@cem/core";

/** The package that runs models: an optional peer. */
export const TRANSFORMERS = "@huggingface/transformers";

/**
 * Imports the library from where this package stands, else from the working directory: a command that was started by `npx`
 * finds what the project has installed.
 *
 * @throws CemError `EMBEDDER_FAILED`
 */
export async function importTransformers<Library>(library: string): Promise<Library> {
  try {
    return (await import(library)) as Library;
  } catch (error) {
    try {
      return (await import(pathToFileURL(resolveFrom(workingDirectory(), library)).href)) as Library;
    } catch {
      throw notInstalled(library, error);
    }
  }
}

/**
 * Checks that the library is installed, without loading it.
 *
 * @throws CemError `EMBEDDER_FAILED` that says what to install.
 */
export function checkTransformers(library: string = TRANSFORMERS): void {
  const places = [import.meta.url, workingDirectory()];
  const found = places.some((place) => {
    try {
      return resolveFrom(place, library) !== "";
    } catch {
      return false;
    }
  });
  if (!found) throw notInstalled(library);
}

function workingDirectory(): string {
  return path.join(process.cwd(), "package.json");
}

function resolveFrom(place: string, library: string): string {
  return createRequire(place).resolve(library);
}

function notInstalled(library: string, cause?: unknown): CemError {
  const message = `The embedding model can't be used: ${library} can't be loaded. Install it: npm install ${library}`;
  return new CemError("EMBEDDER_FAILED", message, { cause });
}
