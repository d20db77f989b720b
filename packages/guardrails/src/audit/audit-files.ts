import { readdirSync } from "node:fs";
import path from "node:path";

/** The file that an audit log's lines are moved to when it is full: `audit.jsonl` to `audit.000001.jsonl`. */
export function rotatedFile(file: string, count: number): string {
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}.${String(count).padStart(6, "0")}${ext}`);
}

/** The rotated files of an audit log, oldest first. */
export function listRotated(file: string): string[] {
  const { dir, name, ext } = path.parse(file);
  const folder = dir === "" ? "." : dir;
  let entries: string[];
  try {
    entries = readdirSync(folder);
  } catch {
    return [];
  }
  return entries
    .filter((entry) => {
      const count = entry.slice(name.length + 1, entry.length - ext.length);
      return entry.startsWith(`${name}.`) && entry.endsWith(ext) && /^\d{6}$/.test(count);
    })
    .toSorted()
    .map((entry) => path.join(dir, entry));
}
