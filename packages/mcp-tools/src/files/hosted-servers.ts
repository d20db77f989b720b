import path from "node:path";
import type { CatalogSnapshot, ToolDefinition } from "@cem/core";
import type { EntryReference, ServerEntry } from "./server-entries.ts";

/** A tool by its name, with what its author says of its effects. */
export type NamedTool = Pick<ToolDefinition, "server" | "name" | "annotations">;

/** The tools whose code is in files of a folder of servers and runs in the sandbox, by server. */
export type LocalTools = ReadonlyMap<string, readonly ToolDefinition[]>;

/** The tools of a catalog that are files. */
export function localTools({ servers }: CatalogSnapshot): LocalTools {
  return new Map(
    servers
      .map(({ name, tools }) => [name, tools.filter(({ kind }) => kind === "local")] as const)
      .filter(([, tools]) => tools.length > 0),
  );
}

interface Surroundings {
  snapshot: CatalogSnapshot;
  tools: LocalTools;
  entries: ReadonlyMap<string, ServerEntry>;
  isGuarded: (tool: NamedTool) => boolean;
}

/**
 * The entries of the folder of servers that code must not reach: servers with a guarded tool, and what shares modules with
 * one, since a helper can do what the tool does.
 */
export function hostedEntries({ snapshot, tools, entries, isGuarded }: Surroundings): ReadonlySet<string> {
  const hosted = new Set(
    [...entries].filter(([name, entry]) => hasGuarded(name, entry)).map(([name]) => name),
  );
  const sharing = [...entries].flatMap(([from, { references }]) =>
    references
      .filter((to) => entries.has(to.entry) && !isCall(to))
      .map(({ entry }) => [from, entry] as const),
  );
  for (let before = -1; before !== hosted.size;) {
    before = hosted.size;
    for (const [one, other] of sharing) {
      if (hosted.has(one)) hosted.add(other);
      else if (hosted.has(other)) hosted.add(one);
    }
  }
  return hosted;

  function hasGuarded(server: string, { exported }: ServerEntry): boolean {
    const own = tools.get(server) ?? [];
    if (own.some(isGuarded)) return true;
    const listed = new Set(own.map(({ name }) => name));
    const broken = snapshot.problems
      .filter((problem) => problem.server === server)
      .map(({ file }) => path.parse(file).name);
    // Of a file that can't be read nothing is known but its name; other exports are no tools, unless a guard names them.
    return (
      broken.some((name) => !listed.has(name) && isGuarded({ server, name })) ||
      [...exported].some(
        (name) =>
          !listed.has(name) &&
          (tools.has(server) || broken.length > 0) &&
          isGuarded({ server, name, annotations: { readOnlyHint: true } }),
      )
    );
  }

  /** Whether a reference is the import of tools and of nothing else. */
  function isCall({ entry, file, names }: EntryReference): boolean {
    const known = new Set(tools.get(entry)?.map(({ name }) => name));
    return names !== undefined && known.size > 0 && file !== "" && names.every((name) => known.has(name));
  }
}
