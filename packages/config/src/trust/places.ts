import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative } from "node:path";

/** The real path of a place, also of one that does not exist yet. */
export function realPath(place: string): string {
  try {
    return realpathSync.native(place);
  } catch {
    const parent = dirname(place);
    return parent === place ? place : join(realPath(parent), basename(place));
  }
}

/** Whether a real path is a folder or lies in it. */
export function isWithin(folder: string, place: string): boolean {
  const way = relative(folder, place);
  return way === "" || (!isAbsolute(way) && !/^\.\.(?:[\\/]|$)/u.test(way));
}
