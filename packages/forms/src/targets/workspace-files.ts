import { realpath, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";
import { isWithin, NotAFolder, openContained, openUnfollowed, replaceFile } from "@cem/core/files";
import type { ContainedFolder } from "@cem/core/files";
import type { FormField } from "../form/form-schema.ts";

const DEFAULT_MAX_BYTES = 25 * 1024 * 1024;
const MIME_TYPES: Readonly<Record<string, string>> = {
  ".csv": "text/csv",
  ".gif": "image/gif",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".json": "application/json",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".txt": "text/plain",
  ".webp": "image/webp",
};

/** Checks the files that a field names. @returns the fault, as a clause. */
export async function faultOfFiles(
  workspace: string | undefined,
  field: FormField,
  paths: readonly string[],
): Promise<string | undefined> {
  for (const file of paths) {
    try {
      const { handle } = await openFile(workspace, file, field);
      await handle.close();
    } catch (error) {
      if (CemError.isInstance(error)) return error.message;
      throw error;
    }
  }
  return undefined;
}

/** @throws CemError `FILE_UNREADABLE`, whose message is a clause: `must lie in the workspace`. */
export async function readWorkspaceFile(
  workspace: string | undefined,
  file: string,
  field: Pick<FormField, "accept" | "max_bytes"> = {},
): Promise<{ name: string; mimeType: string; bytes: Buffer }> {
  const { handle, name, mimeType } = await openFile(workspace, file, field);
  await using opened = handle;
  return { name, mimeType, bytes: await opened.readFile() };
}

/** Writes a file of the workspace. A link in its place is replaced, and none is followed out of the workspace. */
export async function writeWorkspaceFile(workspace: string, file: string, content: Uint8Array) {
  const root = await realpath(workspace).catch(() => {
    throw unusable("needs a workspace folder, which does not exist");
  });
  const wanted = path.resolve(root, file);
  if (wanted === root || !isWithin(root, wanted)) throw unusable("must lie in the workspace");
  const real = path.join(await realFolder(path.dirname(wanted)), path.basename(wanted));
  if (!isWithin(root, real)) throw unusable("must lie in the workspace, and a link leads out of it");
  await using folder = await openParent(root, real, true);
  await replaceFile(folder.child(path.basename(real)), content);
  return real;
}

/** Opens the folder of a real path below the root. A link may have been put on its path meanwhile, or it may have gone. */
async function openParent(root: string, real: string, create: boolean): Promise<ContainedFolder> {
  const parts = path.relative(root, path.dirname(real)).split(path.sep).filter(Boolean);
  const folder = await openContained(root, parts, create).catch((error: unknown) => {
    throw error instanceof NotAFolder ? unusable("must lie in the workspace, in folders") : error;
  });
  if (folder === undefined) throw unusable("is not a file of the workspace");
  return folder;
}

async function openFile(
  workspace: string | undefined,
  file: string,
  { accept, max_bytes: maxBytes = DEFAULT_MAX_BYTES }: Pick<FormField, "accept" | "max_bytes">,
): Promise<{ handle: FileHandle; name: string; mimeType: string }> {
  if (workspace === undefined) throw unusable("needs a workspace folder to find the file in");
  const root = await realpath(workspace).catch(() => workspace);
  const real = await realpath(path.resolve(root, file)).catch(() => undefined);
  if (real === undefined || real === root) throw unusable("is not a file of the workspace");
  if (!isWithin(root, real)) throw unusable("must lie in the workspace");
  const name = path.basename(file);
  const extension = path.extname(name).toLowerCase();
  const mimeType = MIME_TYPES[extension] ?? "application/octet-stream";
  if (accept !== undefined && !accept.some((one) => isAccepted(one.toLowerCase(), extension, mimeType)))
    throw unusable(`must be one of: ${accept.join(", ")}`);
  await using folder = await openParent(root, real, false);
  const handle = await openUnfollowed(folder.child(path.basename(real))).catch(() => {
    throw unusable("is a file that can't be read");
  });
  const found = await handle.stat();
  const { size } = found;
  if (found.isFile() && size <= maxBytes) return { handle, name, mimeType };
  await handle.close();
  throw unusable(found.isFile() ? `has ${size} bytes, and at most ${maxBytes} are taken` : "is not a file");
}

/** The real path of a folder, even before it is created. */
async function realFolder(folder: string): Promise<string> {
  const found = await realpath(folder).catch(() => undefined);
  if (found !== undefined) return found;
  return path.join(await realFolder(path.dirname(folder)), path.basename(folder));
}

function isAccepted(accepted: string, extension: string, mimeType: string): boolean {
  if (accepted.startsWith(".")) return accepted === extension;
  return accepted.endsWith("/*") ? mimeType.startsWith(accepted.slice(0, -1)) : accepted === mimeType;
}

function unusable(message: string): CemError {
  return new CemError("FILE_UNREADABLE", message);
}
