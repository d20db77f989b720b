import { isBuiltin } from "node:module";

export const CLIENT_SPECIFIER = "cem:client";
const CLIENT_URL = "file:///workspace/client/index.ts";
export const PROGRAM_URL = "file:///workspace/program.ts";
const TOOL_MODULE = /^\/workspace\/(?:servers|skills)\/([^/]+)\/[^/]+$/;
const SERVER_INDEX = /^\/workspace\/servers\/([^/]+)\/index\.m?[jt]s$/;
/** Accepted forms of a server's or skill's module URL: its folder, or `index` with or without a file extension. */
const TOOL_FOLDER =
  /^(file:\/\/\/workspace\/(?:servers|skills)\/[^/.][^/]*?)(?:\/?|\/index(?:\.[cm]?[jt]s)?)$/;
const BARE_FOLDER = /^(?:servers|skills)\//;

/** The server or skill that a module belongs to. */
export function folderOf(url: string): string | undefined {
  return url.startsWith("file:") ? TOOL_MODULE.exec(pathOf(url))?.[1] : undefined;
}

/** The server that a module is the index of. */
export function serverOf(url: string): string | undefined {
  return url.startsWith("file:") ? SERVER_INDEX.exec(pathOf(url))?.[1] : undefined;
}

/** The URLs that the index of a server or skill may have instead of `index.ts`. */
export function otherIndexesOf(url: string): string[] {
  if (!url.endsWith("/index.ts") || folderOf(url) === undefined) return [];
  return ["mts", "js", "mjs"].map((extension) => url.replace(/ts$/, extension));
}

export function pathOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname);
}

/** The URL of an imported module, or why the specifier is invalid. */
export function resolveModule(
  given: string,
  referrer: string,
): { url: string } | { url?: undefined; refusal: string } {
  if (given === CLIENT_SPECIFIER) return { url: CLIENT_SPECIFIER };
  const specifier = BARE_FOLDER.test(given) ? `/workspace/${given}` : given;
  const isPath = /^\.{0,2}\//.test(specifier);
  if (isPath || specifier.startsWith("file:")) {
    const { href } = new URL(specifier, referrer.startsWith("file:") ? referrer : PROGRAM_URL);
    const url = plainUrl(href);
    if (url === undefined)
      return { refusal: `"${given}" can't be imported: it has an encoded "/", "\\" or "%".` };
    return { url: url === CLIENT_URL ? CLIENT_SPECIFIER : moduleUrl(url) };
  }
  if (/^(?:node|data|blob):/.test(specifier)) return { url: specifier };
  if (isBuiltin(specifier)) return { url: `node:${specifier}` };
  return {
    refusal: `"${specifier}" can't be imported. A program can import ./servers/…, ./skills/…, other files of /workspace, and Node's modules as node:….`,
  };
}

/** The canonical form of a file's URL, without needless encoding. `undefined` when the path hides a part. */
function plainUrl(href: string): string | undefined {
  if (!href.includes("%")) return href;
  const url = new URL(href);
  if (/%(?:2f|5c|25|(?![\da-f]{2}))/i.test(url.pathname)) return undefined;
  try {
    url.pathname = decodeURIComponent(url.pathname).replaceAll("?", "%3F").replaceAll("#", "%23");
  } catch {
    return undefined;
  }
  return url.href;
}

/** Completes a URL that names a tool's folder to the URL of its module. */
function moduleUrl(url: string): string {
  const [, folder] = TOOL_FOLDER.exec(url) ?? [];
  // `servers/note.ts` is a file, not a server.
  return folder === undefined || /\.(?:[cm]?[jt]s|json)$/.test(folder) ? url : `${folder}/index.ts`;
}
