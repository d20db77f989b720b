import { createHash } from "node:crypto";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { CemError } from "@cem/core";
import type { GuestRuntime } from "./guest-runtime.ts";
import type { Microsandbox } from "./load-sdk.ts";
import { buildOwnImage } from "./own-image.ts";

const ARCHIVE = /\.(?:tar|tgz|tar\.gz|tar\.zst)$/;
const DISK = /\.(?:qcow2|raw|vmdk)$/;
const HASH_CHARACTERS = 16;

const ACCEPTED =
  "An image is an OCI reference, or the absolute path of an archive (docker save, OCI layout), a folder or a disk image, with a C library (glibc).";

function unusable(image: string, why: string, cause?: unknown): CemError {
  return new CemError("SANDBOX_IMAGE_UNUSABLE", `The image ${image} can't be used: ${why} ${ACCEPTED}`, {
    details: { image },
    cause,
  });
}

export type PreparedImage = Awaited<ReturnType<typeof prepareImage>>;

/**
 * Prepares an image: builds one from this host's C library when none is given, loads an archive once, uses a folder or
 * disk image as it is, and leaves an OCI reference for the first machine to pull. @throws CemError `SANDBOX_IMAGE_UNUSABLE`.
 */
export async function prepareImage(
  sdk: Microsandbox,
  { home, image, runtime }: { home: string; image: string | undefined; runtime: GuestRuntime },
) {
  if (image === undefined) return { name: await prepareOwn(sdk, home, runtime), hasRuntime: true };
  return { name: await prepareGiven(sdk, image), hasRuntime: false };
}

async function prepareGiven(sdk: Microsandbox, image: string): Promise<string> {
  if (!isAbsolute(image)) {
    if (/^\.{1,2}\//.test(image)) throw unusable(image, "a path has to be absolute.");
    return image;
  }
  const found = statSync(image, { throwIfNoEntry: false });
  if (found === undefined) throw unusable(image, "there is nothing at that path.");
  if (found.isDirectory() || DISK.test(image)) return image;
  if (!ARCHIVE.test(image)) throw unusable(image, "it is neither a folder nor an archive.");
  const hash = createHash("sha256").update(readFileSync(image)).digest("hex").slice(0, HASH_CHARACTERS);
  return loadArchive(sdk, image, `cem-archive:${hash}`);
}

async function prepareOwn(sdk: Microsandbox, home: string, runtime: GuestRuntime): Promise<string> {
  const tag = `cem-guest:${runtime.key}`;
  if (await isLoaded(sdk, tag)) return tag;
  const bytes = buildOwnImage(runtime);
  if (bytes === undefined)
    throw unusable("auto", `none can be built from this host's libraries on ${process.platform}.`);
  const file = join(home, `making-${process.pid}-${runtime.key}.tar`);
  writeFileSync(file, bytes);
  try {
    return await loadArchive(sdk, file, tag);
  } finally {
    rmSync(file, { force: true });
  }
}

function isLoaded({ Image }: Microsandbox, tag: string): Promise<boolean> {
  return Image.get(tag).then(
    () => true,
    () => false,
  );
}

async function loadArchive(sdk: Microsandbox, file: string, tag: string): Promise<string> {
  if (await isLoaded(sdk, tag)) return tag;
  try {
    await sdk.Image.load(file, { tag });
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw unusable(file, `it can't be loaded (${said}).`, error);
  }
  return tag;
}
