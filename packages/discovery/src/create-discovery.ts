import { hash } from "node:crypto";
import path from "node:path";
import { toErrorInfo } from "@cem/core";
import type { CatalogSnapshot, ToolCatalog, ToolKind, ToolProblem, ToolServer } from "@cem/core";
import pMap from "p-map";
import { loadCache, saveCache } from "./catalog/disk-cache.ts";
import { createFactsStore } from "./catalog/facts-store.ts";
import { createModuleGraph } from "./catalog/module-graph.ts";
import { createServerCache, readServer, type ReadServer } from "./catalog/read-server.ts";
import { scanFolders, type KnownFolders, type ToolFolder } from "./catalog/scan-folders.ts";
import { createSourceFiles } from "./catalog/source-files.ts";

/** Settings of {@link createDiscovery}. */
export interface DiscoverySettings {
  /** Folder of the tools: `servers/<server>/<tool>.ts`. A folder that does not exist has no tools. */
  serversDir: string;
  /**
   * Folder of the skills: `skills/<skill>/index.ts`, with a SKILL.md.
   *
   * @defaultValue none
   */
  skillsDir?: string | undefined;
  /**
   * Cache file for the next process. Code in the sandbox must not be able to write it.
   *
   * @defaultValue none
   */
  cacheFile?: string | undefined;
  /**
   * Whether the cache file includes the skills.
   *
   * @defaultValue `true`
   */
  cacheSkills?: boolean | undefined;
  /**
   * Names of tools that run on the host and have no file, by server. Skills may import them.
   *
   * @defaultValue none
   */
  hostTools?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * Whether to read several folders concurrently.
   *
   * @defaultValue `true`
   */
  parallel?: boolean | undefined;
  /**
   * Reads the folder of a server that declares its tools in its own manifest, so that its source is not parsed.
   *
   * @param folder - Absolute path of the folder.
   * @returns The server; `undefined` when the folder has no manifest. Must return the same object as long as nothing
   *   changes. An exception becomes a problem of the folder.
   */
  readListed?: ((folder: string) => Promise<ToolServer | undefined>) | undefined;
}

const MAX_CONCURRENCY = 32;

/**
 * Creates a catalog of the tools and skills in a folder, read from their source without running it.
 *
 * Each `list()` checks every file and parses those that changed since the last one. A file that can't be used becomes
 * an entry in `problems`; the rest stays usable.
 *
 * @returns The catalog. What `list()` returns must not be modified.
 */
export function createDiscovery(settings: DiscoverySettings): ToolCatalog {
  const cacheRoot = path.resolve(settings.serversDir);
  const roots: { kind: ToolKind; dir: string }[] = [{ kind: "local", dir: cacheRoot }];
  if (settings.skillsDir !== undefined) roots.push({ kind: "skill", dir: path.resolve(settings.skillsDir) });
  const { hostTools = {} } = settings;
  const cacheFile = settings.cacheFile === undefined ? undefined : path.resolve(settings.cacheFile);
  const concurrency = settings.parallel === false ? 1 : MAX_CONCURRENCY;
  const sources = createSourceFiles(
    roots.map(({ kind, dir }) => ({ dir, guestName: kind === "skill" ? "skills" : "servers" })),
  );
  const store = createFactsStore(sources);
  const servers = createServerCache(store);
  const skillsRoot = roots[1]?.dir;
  const isKept = (file: string): boolean =>
    settings.cacheSkills !== false || skillsRoot === undefined || !file.startsWith(skillsRoot + path.sep);
  const loaded = cacheFile === undefined ? Promise.resolve() : loadCache(cacheFile, cacheRoot, store);
  const scanned: KnownFolders = new Map();
  let last: Promise<unknown> = loaded;

  async function read(signal?: AbortSignal): Promise<CatalogSnapshot> {
    sources.beginPass();
    const readsBefore = store.reads;
    const visited = new Set<string>();
    const found: ReadServer[] = [];
    for (const { kind, dir } of roots) {
      const { folders, loose, python, problems } = scanFolders(dir, scanned);
      if (python.length > 0) problems.push(inPython(dir, python));
      if (kind === "skill") problems.push(...loose.map((name) => skillWithoutFolder(dir, name)));
      const read = async (folder: ToolFolder): Promise<ReadServer> => {
        signal?.throwIfAborted();
        const listed = kind === "local" ? await readListed(folder, settings.readListed) : undefined;
        if (listed !== undefined) return listed;
        const known = servers.get(folder);
        for (const file of known?.files ?? []) visited.add(file);
        if (known) return known.result;
        const files = new Set<string>();
        const factsOf = (file: string) => {
          signal?.throwIfAborted();
          files.add(file);
          visited.add(file);
          return store.factsOf(file);
        };
        const result = await readServer(folder, kind, createModuleGraph(factsOf, { ...sources, hostTools }));
        servers.set(folder, result, files);
        return result;
      };
      found.push({ problems }, ...(await pMap(folders, read, { concurrency })));
    }
    const isPruned = prune(visited);
    if (cacheFile !== undefined && (isPruned || store.reads !== readsBefore))
      await saveCache(cacheFile, cacheRoot, store, isKept);
    return toSnapshot(found);
  }

  function prune(visited: ReadonlySet<string>): boolean {
    const before = store.entries.size;
    for (const file of store.entries.keys()) if (!visited.has(file)) store.entries.delete(file);
    return store.entries.size !== before;
  }

  return {
    specificationVersion: "v1",
    list(options = {}) {
      // One pass at a time: each sees the state on disk when it begins.
      const next = last.then(() => read(options.signal)).finally(() => store.endPass());
      last = next.catch(() => undefined);
      return next;
    },
  };
}

const MAX_NAMED_FILES = 5;

/** The problem of Python files, which no sandbox runs: one for all files of a root. */
function inPython(dir: string, names: readonly string[]): ToolProblem {
  const shown = names.slice(0, MAX_NAMED_FILES).join(", ");
  const more = names.length > MAX_NAMED_FILES ? ` and ${names.length - MAX_NAMED_FILES} more` : "";
  const [subject, verb] = names.length === 1 ? ["1 file", "is"] : [`${names.length} files`, "are"];
  const message = `${subject} in ${path.basename(dir)}/ ${verb} in Python, which does not run here: ${shown}${more}.`;
  return { server: "", file: dir, message, cause: "python" };
}

function skillWithoutFolder(dir: string, name: string): ToolProblem {
  const { name: stem, ext } = path.parse(name);
  const message = `${name} is not in a folder of its own, so it is not a skill. Move it to ${path.basename(dir)}/${stem}/index${ext}.`;
  return { server: stem, file: path.join(dir, name), message };
}

async function readListed({ name, folder }: ToolFolder, read: DiscoverySettings["readListed"]) {
  try {
    const server = await read?.(folder);
    return server === undefined ? undefined : { server, problems: [] };
  } catch (error) {
    return { problems: [{ server: name, file: folder, message: toErrorInfo(error).message }] };
  }
}

/** Combines servers and skills. A skill with the name of a server is left out, since names identify servers. */
function toSnapshot(found: readonly ReadServer[]): CatalogSnapshot {
  const servers = new Map<string, ToolServer>();
  const problems = found.flatMap((each) => each.problems);
  for (const { server } of found) {
    if (!server) continue;
    if (servers.has(server.name)) {
      const [file = server.name] = server.tools.map((tool) => tool.file ?? "");
      const message = `The skill "${server.name}" has the name of a server and is left out. Rename one of them.`;
      problems.push({ server: server.name, file, message });
    } else servers.set(server.name, server);
  }
  const all = [...servers.values()];
  return { servers: all, problems, version: sha256(all.map(hashOf).join()) };
}

/** Cached hashes of servers, which stay the same object as long as nothing changes. */
const hashes = new WeakMap<ToolServer, string>();

function hashOf(server: ToolServer): string {
  const known = hashes.get(server);
  if (known !== undefined) return known;
  const { tools, ...rest } = server;
  const found = sha256(JSON.stringify([rest, tools.map(({ file: _file, ...tool }) => tool)]));
  hashes.set(server, found);
  return found;
}

function sha256(text: string): string {
  return hash("sha256", text, "base64url");
}
