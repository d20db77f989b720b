import path from "node:path";

/** A path as seen from here, where that is shorter. */
export function shortPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative === "" ? "." : relative.startsWith("..") ? file : relative;
}
