const MAX_PATH_BYTES = 4_096;
const MAX_NAME_BYTES = 255;
const MAX_PARTS = 64;
const FORBIDDEN = process.platform === "win32" ? /[\0\\:]/ : /\0/;

/** Why a path can't be shared; `undefined` where it can. It may come from another machine, or from hostile code. */
export function pathProblem(path: string): string | undefined {
  if (!path.isWellFormed() || path.includes("\uFFFD")) return "its name is no valid Unicode";
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `its path has more than ${MAX_PATH_BYTES} bytes`;
  const parts = path.split("/");
  if (parts.length < 2) return "it is in no folder";
  if (parts.length > MAX_PARTS) return `it is more than ${MAX_PARTS} folders deep`;
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "its path leads elsewhere";
  if (FORBIDDEN.test(path)) return "its name has a character that is not allowed";
  if (parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)) return "its name is too long";
  return undefined;
}

/** The folders that a path leads through: `a`, `a/b` for `a/b/c`. */
export function foldersOf(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

/** The name beside a file for another content of it. The same content has the same name. */
export function nameBeside(path: string, digest: string): string {
  const cut = path.lastIndexOf("/") + 1;
  const name = path.slice(cut);
  const dot = name.lastIndexOf(".");
  const ending = dot > 0 && name.length - dot <= MAX_ENDING ? name.slice(dot) : "";
  const mark = `.conflict-${digest.slice(0, MARK_CHARACTERS).replaceAll("_", "-")}`;
  let stem = ending === "" ? name : name.slice(0, -ending.length);
  while (Buffer.byteLength(stem + mark + ending) > MAX_NAME_BYTES)
    stem = Array.from(stem).slice(0, -1).join("");
  return path.slice(0, cut) + stem + mark + ending;
}

const MAX_ENDING = 12;
const MARK_CHARACTERS = 12;

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
