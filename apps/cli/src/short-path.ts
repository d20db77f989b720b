import path from "node:path";

/** A path relative to the working directory, where it lies in it; otherwise as it is. */
export function shortPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative === "" ? "." : relative.startsWith("..") ? file : relative;
}
