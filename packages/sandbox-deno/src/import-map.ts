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
import { guestPaths, hiddenPlaceholder, shimFolder, toHostPath, type GuestPlan } from "./guest-plan.ts";
import { hiddenHostPaths } from "./hidden-placeholder.ts";

interface ImportMap {
  imports: Record<string, string>;
  scopes?: Record<string, Record<string, string>> | undefined;
}

const folderUrl = (path: string) => `${pathToFileURL(path).href.replace(/\/$/, "")}/`;

/** Writes the sandbox's import map to its temporary folder. */
export function writeImportMap(level: IsolationLevel, plan: GuestPlan): void {
  const map = level === "permissions" ? hostImportMap(plan, guestPaths(plan)) : namespacedImportMap(plan);
  fs.writeFileSync(join(plan.privateDir, "import-map.json"), JSON.stringify(map));
}

/** The import map of a guest with a file system view of its own, where `/workspace` exists. */
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

/** Generated modules for tools on the host: their guest path and their `data:` URL. */
function hostToolModules(plan: GuestPlan, toUrl: (path: string) => string): { path: string; url: string }[] {
  return Object.entries(plan.hostTools).map(([server, tools]) => {
    const path = hostToolModule(server);
    const ownFile = fs.existsSync(toHostPath(plan, path)) ? toUrl(path) : undefined;
    return { path, url: hostToolModuleUrl(server, tools, ownFile) };
  });
}

/**
 * The import map of a guest without a file system view of its own: it maps `/workspace` to host folders, resolves
 * relative imports across mounts, and replaces Node's file modules by shims that accept guest paths.
 */
function hostImportMap(plan: GuestPlan, paths: Record<string, string>): ImportMap {
  const { bootFile, privateDir, mounts, workspaceDir } = plan;
  const bootUrl = pathToFileURL(bootFile).href;
  const places = Object.entries(paths).map(([guest, host]): [string, string] => [
    `file://${guest}/`,
    folderUrl(host),
  ]);
  const shims = Object.fromEntries(
    writeNodeShims(privateDir, bootUrl).map(({ name, file }) => [name, pathToFileURL(file).href]),
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
      ...Object.fromEntries(isTopLevel ? [[pathToFileURL(join(parent, clientPath)).href, bootUrl]] : []),
      ...Object.fromEntries(up === undefined ? [] : [[folderUrl(parent), folderUrl(up)]]),
      ...Object.fromEntries(siblings),
      [folderUrl(hostPath)]: folderUrl(hostPath),
      ...Object.fromEntries(
        modules
          .filter(({ path }) => path.startsWith(`${guestParent}/`))
          .map(({ path, url }) => [pathToFileURL(join(parent, path.slice(guestParent.length))).href, url]),
      ),
    };
  }
  const own = Object.fromEntries(Object.keys(shims).map((name) => [name, name]));
  // The shim for node:fs imports the one for node:fs/promises, so that both are patched whichever is imported.
  const promisesUrl = shims["node:fs/promises"] ?? "";
  scopes[folderUrl(shimFolder(privateDir))] = { ...own, "node:fs/promises": promisesUrl };
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
        hiddenHostPaths(plan).map((file) => [
          pathToFileURL(file).href,
          pathToFileURL(hiddenPlaceholder(privateDir)).href,
        ]),
      ),
      ...shims,
    },
    scopes,
  };
}

/** Source of a shim that patches a Node module's functions before any program gets them, and re-exports them. */
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

/** Writes shims for Node's file modules, whose functions accept guest paths. */
function writeNodeShims(privateDir: string, bootUrl: string): { name: string; file: string }[] {
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
  const folder = shimFolder(privateDir);
  fs.mkdirSync(folder, { recursive: true });
  return Object.entries(sources).map(([name, source]) => {
    const file = join(folder, `${name.replaceAll(/\W/g, "-")}.js`);
    fs.writeFileSync(file, source);
    return { name, file };
  });
}
