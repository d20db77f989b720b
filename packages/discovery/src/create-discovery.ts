import { hash } from "node:crypto";
import path from "node:path";
import type { CatalogSnapshot, ToolCatalog, ToolKind, ToolProblem, ToolServer } from "@cem/core";
import { toErrorInfo } from "@cem/core";
import { loadCache, saveCache } from "./disk-cache.ts";
import { createFactsStore } from "./facts-store.ts";
import { mapInParallel } from "./map-in-parallel.ts";
import { createModuleGraph } from "./module-graph.ts";
import { readServer, type ReadServer } from "./read-server.ts";
import { scanFolders, type ToolFolder } from "./scan-folders.ts";
import { createServerMemory } from "./server-memory.ts";
import { createSourceFiles } from "./source-files.ts";

export interface DiscoverySettings {
  /** Folder of the tools: `servers/<server>/<tool>.ts`. One that does not exist has no tools. */
  serversDir: string;
  /** Folder of the skills: `skills/<skill>/index.ts`, with a SKILL.md. Default: none. */
  skillsDir?: string | undefined;
  /** Where to keep what was read, for the next process. Must not be writable for code in the sandbox. Default: nowhere. */
  cacheFile?: string | undefined;
  /** Read many files at once. Default: true. */
  parallel?: boolean | undefined;
  /**
   * Reads a server's folder that lists its tools in a file of its own, so that nothing in it is parsed. `undefined`: it
   * does not. Give the same object for as long as nothing changes. What it throws is reported as the folder's problem.
   */
  readListed?: ((folder: string) => Promise<ToolServer | undefined>) | undefined;
}

const PARALLEL_FOLDERS = 32;

/**
 * A catalog of the tools and skills in a folder, read from their source without running it. Each `list()` looks at every
 * file again and reads those that changed. What it returns must not be changed by the caller.
 */
export function createDiscovery(settings: DiscoverySettings): ToolCatalog {
  const roots: { kind: ToolKind; dir: string }[] = [
    { kind: "local", dir: path.resolve(settings.serversDir) },
  ];
  if (settings.skillsDir !== undefined) roots.push({ kind: "skill", dir: path.resolve(settings.skillsDir) });
  const cacheFile = settings.cacheFile === undefined ? undefined : path.resolve(settings.cacheFile);
  const concurrency = settings.parallel === false ? 1 : PARALLEL_FOLDERS;
  const sources = createSourceFiles(roots.map(({ dir }) => dir));
  const store = createFactsStore(sources);
  const memory = createServerMemory(store);
  const cacheRoot = roots[0]?.dir ?? "";
  const loaded =
    cacheFile === undefined ? Promise.resolve() : loadCache(cacheFile, cacheRoot, sources, store);
  let last: Promise<unknown> = loaded;

  async function read(signal?: AbortSignal): Promise<CatalogSnapshot> {
    sources.begin();
    const readsBefore = store.reads;
    const visited = new Set<string>();
    const found: { server?: ToolServer | undefined; problems: ToolProblem[] }[] = [];
    for (const { kind, dir } of roots) {
      const { folders, problems } = await scanFolders(dir, concurrency, signal);
      const read = async (folder: ToolFolder): Promise<ReadServer> => {
        const listed = kind === "local" ? await readListed(folder, settings.readListed) : undefined;
        if (listed !== undefined) return listed;
        const known = memory.recall(folder);
        for (const file of known?.files ?? []) visited.add(file);
        if (known) return known.result;
        const files = new Set<string>();
        const factsOf = (file: string) => {
          signal?.throwIfAborted();
          files.add(file);
          visited.add(file);
          return store.factsOf(file);
        };
        const result = await readServer(
          folder,
          kind,
          createModuleGraph(factsOf, (file) => sources.isInside(file)),
        );
        memory.remember(folder, result, files);
        return result;
      };
      found.push({ problems }, ...(await mapInParallel(folders, concurrency, read, signal)));
    }
    store.end();
    const isPruned = prune(visited);
    if (cacheFile !== undefined && (isPruned || store.reads !== readsBefore))
      await saveCache(cacheFile, cacheRoot, sources, store);
    return toSnapshot(found);
  }

  /** Forgets files that are gone or no longer of interest. */
  function prune(visited: ReadonlySet<string>): boolean {
    const kept = new Set(visited);
    for (const [file, { dependencies }] of store.entries) {
      if (visited.has(file)) for (const [each] of dependencies) kept.add(each);
    }
    const before = store.entries.size;
    for (const file of store.entries.keys()) if (!visited.has(file)) store.entries.delete(file);
    for (const file of sources.states.keys()) if (!kept.has(file)) sources.states.delete(file);
    return store.entries.size !== before;
  }

  return {
    specificationVersion: "v1",
    list(options = {}) {
      // One look at a time: each must see what is on disk when its turn comes.
      const next = last.then(() => read(options.signal));
      last = next.catch(() => undefined);
      return next;
    },
  };
}

async function readListed(
  { name, folder }: ToolFolder,
  read: DiscoverySettings["readListed"],
): Promise<ReadServer | undefined> {
  try {
    const server = await read?.(folder);
    return server === undefined ? undefined : { server, problems: [] };
  } catch (error) {
    return { problems: [{ server: name, file: folder, message: toErrorInfo(error).message }] };
  }
}

/** One name, one server: a skill that is called like a server would be taken for it. */
function toSnapshot(
  found: readonly { server?: ToolServer | undefined; problems: ToolProblem[] }[],
): CatalogSnapshot {
  const servers = new Map<string, ToolServer>();
  const problems = found.flatMap((each) => each.problems);
  for (const { server } of found) {
    if (!server) continue;
    if (servers.has(server.name)) {
      const [file = server.name] = server.tools.map((tool) => tool.file ?? "");
      problems.push({
        server: server.name,
        file,
        message: `The skill "${server.name}" has the name of a server and is left out. Rename one of them.`,
      });
    } else servers.set(server.name, server);
  }
  const all = [...servers.values()];
  return { servers: all, problems, version: versionOf(all) };
}

/** Definitions by their hash: they stay the same object for as long as nothing changes. */
const hashes = new WeakMap<ToolServer, string>();

function versionOf(servers: readonly ToolServer[]): string {
  return sha256(servers.map(hashOf).join());
}

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
