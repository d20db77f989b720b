import * as fs from "node:fs";
import * as promises from "node:fs/promises";
import { dirname, join } from "node:path";
import { basename, relative } from "node:path/posix";
import { pathToFileURL } from "node:url";
import type { IsolationLevel } from "@cem/core";
import { GUEST_CLIENT_SPECIFIER } from "@cem/sandbox";
import {
  GUEST_CLIENT_FILE,
  GUEST_RUNNER,
  GUEST_WORKSPACE,
  hostToolModule,
  hostToolModuleUrl,
} from "@cem/sandbox/provider-kit";
import { guestPaths, hiddenStandIn, standInFolder, toHostPath, type GuestPlan } from "./guest-plan.ts";
import { hostPathsOf } from "./hidden-files.ts";

interface ImportMap {
  imports: Record<string, string>;
  scopes?: Record<string, Record<string, string>> | undefined;
}

const folderUrl = (path: string) => `${pathToFileURL(path).href.replace(/\/$/, "")}/`;

/** Writes the sandbox's import map into its private folder. */
export function writeImportMap(level: IsolationLevel, plan: GuestPlan): void {
  const map = level === "permissions" ? hostImportMap(plan, guestPaths(plan)) : namespacedImportMap(plan);
  fs.writeFileSync(join(plan.privateDir, "import-map.json"), JSON.stringify(map));
}

/** The import map of a guest that sees `/workspace` itself. */
function namespacedImportMap(plan: GuestPlan): ImportMap {
  const bootUrl = `file://${GUEST_RUNNER}/guest/${basename(plan.bootFile)}`;
  const modules = hostToolModules(plan, (path) => pathToFileURL(path).href);
  return {
    imports: {
      [GUEST_CLIENT_SPECIFIER]: bootUrl,
      [`file://${GUEST_CLIENT_FILE}`]: bootUrl,
      ...Object.fromEntries(modules.map(({ path, url }) => [pathToFileURL(path).href, url])),
    },
  };
}

/** The modules of tools on the host: where code finds them, and what they are. */
function hostToolModules(plan: GuestPlan, toUrl: (path: string) => string): { path: string; url: string }[] {
  return Object.entries(plan.hostTools).map(([server, tools]) => {
    const path = hostToolModule(server);
    const ownFile = fs.existsSync(toHostPath(plan, path)) ? toUrl(path) : undefined;
    return { path, url: hostToolModuleUrl(server, tools, ownFile) };
  });
}

/**
 * The import map of a guest without a view of its own: modules of `/workspace` come from where they really are,
 * modules that import each other across mounts find each other, and Node's file modules take guest paths.
 */
function hostImportMap(plan: GuestPlan, paths: Record<string, string>): ImportMap {
  const { bootFile, privateDir, mounts, workspaceDir } = plan;
  const bootUrl = pathToFileURL(bootFile).href;
  const places = Object.entries(paths).map(([guest, host]): [string, string] => [
    `file://${guest}/`,
    folderUrl(host),
  ]);
  const standIns = Object.fromEntries(
    writeStandIns(privateDir, bootUrl).map(({ name, file }) => [name, pathToFileURL(file).href]),
  );
  const clientPath = relative(GUEST_WORKSPACE, GUEST_CLIENT_FILE);
  const clientUrl = pathToFileURL(join(workspaceDir, clientPath)).href;
  const realUrl = (path: string): string => pathToFileURL(toHostPath(plan, path)).href;
  const modules = hostToolModules(plan, realUrl);
  const scopes: Record<string, Record<string, string>> = {};
  for (const { hostPath, guestPath } of mounts) {
    const [parent, guestParent] = [dirname(hostPath), dirname(guestPath)];
    const siblings = Object.entries(paths)
      .filter(([guest]) => guest.startsWith(`${guestParent}/`))
      .map(([guest, host]) => [folderUrl(join(parent, guest.slice(guestParent.length))), folderUrl(host)]);
    const up = paths[guestParent];
    const isTopLevel = guestParent === GUEST_WORKSPACE;
    scopes[folderUrl(hostPath)] = {
      ...(isTopLevel ? { [pathToFileURL(join(parent, clientPath)).href]: bootUrl } : {}),
      ...(up === undefined ? {} : { [folderUrl(parent)]: folderUrl(up) }),
      ...Object.fromEntries(siblings),
      [folderUrl(hostPath)]: folderUrl(hostPath),
      ...Object.fromEntries(
        modules
          .filter(({ path }) => path.startsWith(`${guestParent}/`))
          .map(({ path, url }) => [pathToFileURL(join(parent, path.slice(guestParent.length))).href, url]),
      ),
    };
  }
  const own = Object.fromEntries(Object.keys(standIns).map((name) => [name, name]));
  // The stand-in for node:fs loads the one for its promises, so that both fit whichever is asked for.
  const promisesUrl = standIns["node:fs/promises"] ?? "";
  scopes[folderUrl(standInFolder(privateDir))] = { ...own, "node:fs/promises": promisesUrl };
  return {
    imports: {
      [GUEST_CLIENT_SPECIFIER]: bootUrl,
      [`file://${GUEST_CLIENT_FILE}`]: bootUrl,
      [clientUrl]: bootUrl,
      ...Object.fromEntries(places),
      ...Object.fromEntries(
        modules.flatMap(({ path, url }) => [
          [`file://${path}`, url],
          [realUrl(path), url],
        ]),
      ),
      ...Object.fromEntries(
        hostPathsOf(plan).map((file) => [
          pathToFileURL(file).href,
          pathToFileURL(hiddenStandIn(privateDir)).href,
        ]),
      ),
      ...standIns,
    },
    scopes,
  };
}

/** A module that makes Node's functions fit before anybody has them, and exports them by their names. */
function fileModule(bootUrl: string, take: string, names: readonly string[]): string {
  const identifiers = names.filter((name) => name !== "default" && /^[A-Za-z_$][\w$]*$/.test(name));
  return `import { patchNodeFunctions } from ${JSON.stringify(bootUrl)};
import fs from "node:fs";
const real = ${take};
patchNodeFunctions(real);
export default real;
export const { ${identifiers.join(", ")} } = real;
`;
}

/** Modules in place of Node's, whose functions take guest paths. */
function writeStandIns(privateDir: string, bootUrl: string): { name: string; file: string }[] {
  const sources = {
    "node:fs": `import "node:fs/promises";\n${fileModule(bootUrl, "fs", Object.keys(fs))}`,
    "node:fs/promises": fileModule(bootUrl, "fs.promises", Object.keys(promises)),
    "node:sqlite": `import * as real from "node:sqlite";
import { toHostPath } from ${JSON.stringify(bootUrl)};
export * from "node:sqlite";
export class DatabaseSync extends real.DatabaseSync {
  constructor(path, ...rest) {
    super(typeof path === "string" ? toHostPath(path) : path, ...rest);
  }
}
export default { ...real, DatabaseSync };
`,
  };
  const folder = standInFolder(privateDir);
  fs.mkdirSync(folder, { recursive: true });
  return Object.entries(sources).map(([name, source]) => {
    const file = join(folder, `${name.replaceAll(/\W/g, "-")}.js`);
    fs.writeFileSync(file, source);
    return { name, file };
  });
}
