import { filesDamaged, tooManyFiles } from "./errors.ts";
import type { Limits } from "./errors.ts";
import { isPieceName, PIECE_BYTES } from "./file-entry.ts";
import type { FileEntry, Files } from "./file-entry.ts";
import { foldersOf, pathProblem } from "./file-path.ts";

const FORMAT = 1;

/** The files of a workspace as bytes. The same files give the same bytes. */
export function encodeManifest(files: Files): Buffer {
  const rows = [...files]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, { size, pieces }]) => JSON.stringify([path, size, ...pieces]));
  return Buffer.from(`{"format":${FORMAT},"files":[\n${rows.join(",\n")}\n]}\n`);
}

/**
 * Reads a manifest that another machine wrote.
 *
 * @param roots - The folders that paths begin with.
 * @throws CemError `FILES_DAMAGED`, or `WORKSPACE_FULL` for more than may be fetched.
 */
export function parseManifest(
  bytes: Uint8Array,
  { location, roots, limits }: { location: string; roots: ReadonlySet<string>; limits: Limits },
): Map<string, FileEntry> {
  const damaged = (what: string): never => {
    throw filesDamaged(location, what);
  };
  const rows = rowsOf(bytes) ?? damaged("the list of files can't be read");
  const files = new Map<string, FileEntry>();
  let total = 0;
  for (const row of rows) {
    const [path, size, ...pieces] = Array.isArray(row) ? (row as unknown[]) : [];
    if (
      typeof path !== "string" ||
      pathProblem(path) !== undefined ||
      !roots.has(path.split("/", 1)[0] ?? "")
    )
      return damaged("a file in their list has a path that is not allowed");
    const isSized = typeof size === "number" && Number.isSafeInteger(size) && size >= 0;
    if (!isSized || Math.ceil(size / PIECE_BYTES) !== pieces.length || !pieces.every(isPieceName))
      return damaged(`the entry of ${path} can't be read`);
    if (files.has(path)) return damaged(`${path} is in their list twice`);
    files.set(path, { size, pieces });
    total += size;
  }
  if (files.size > limits.maxFiles || total > limits.maxBytes) throw tooManyFiles(files.size, total, limits);
  const tangled = [...files.keys()].find((path) => foldersOf(path).some((folder) => files.has(folder)));
  return tangled === undefined ? files : damaged(`a folder of ${tangled} is a file, too`);
}

function rowsOf(bytes: Uint8Array): unknown[] | undefined {
  try {
    const { format, files } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as {
      format?: unknown;
      files?: unknown;
    };
    return format === FORMAT && Array.isArray(files) ? files : undefined;
  } catch {
    return undefined;
  }
}
