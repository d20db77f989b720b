import path from "node:path";

/** The module of the sandbox by which generated tools call their server, relative to the workspace. */
export const GUEST_CLIENT = "client/index.ts";

const WORKSPACE = "/workspace/";
/** The folder of a server or skill, or its index without or with another ending, all of which stand for the index. */
const TOOL_FOLDER = /^((?:servers|skills)\/[^/.][^/]*?)(?:\/?|\/index(?:\.[cm]?[jt]s)?)$/u;
const FILE_NAME = /\.(?:[cm]?[jt]s|json)$/u;

/**
 * Resolves a specifier as the sandbox does.
 *
 * @param from - The file that imports, relative to the workspace: `skills/report/index.ts`.
 * @returns the path relative to the workspace, which begins with `../` outside of it; `undefined` for packages and other
 * modules that are no files.
 */
export function resolveInGuest(from: string, specifier: string): string | undefined {
  const given = /^(?:servers|skills)\//u.test(specifier) ? WORKSPACE + specifier : specifier;
  if (!/^(?:\.{0,2}\/|file:)/u.test(given)) return undefined;
  const url = URL.parse(given, `file://${WORKSPACE}${from}`);
  const target = path.posix.relative(WORKSPACE, url === null ? given : decoded(url.pathname));
  const folder = TOOL_FOLDER.exec(target)?.[1];
  return folder === undefined || FILE_NAME.test(folder) ? target : `${folder}/index.ts`;
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
