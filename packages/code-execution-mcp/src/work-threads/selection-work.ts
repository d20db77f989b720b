import { deserialize } from "node:v8";
import type { RankedTool, ToolDefinition } from "@cem/core";
import { createSelector } from "@cem/selector";
import type { Selector, SelectorSettings } from "@cem/selector";

/** The settings of a selector without a model. */
export type SelectorWork = Pick<SelectorSettings, "cacheDir" | "lexicalReason">;

/** A catalog for threads, which share the memory that it is in. */
export interface SharedCatalog {
  /** Distinguishes catalogs of this process. */
  id: number;
  /** Lists of definitions, each as `node:v8` serializes it. */
  pieces: readonly SharedArrayBuffer[];
}

/** A search in a catalog. */
export interface Wanted {
  kind: "select" | "search";
  task: string;
  limit?: number | undefined;
}

/** A ranked tool by its place in the catalog. */
export type RankedAt = Omit<RankedTool, "tool"> & { at: number };

/** The tools found. Of a search, `nearest` is empty. */
export interface Found {
  selected: RankedAt[];
  nearest: RankedAt[];
  notes: string[];
}

const MAX_CATALOGS = 2;
/** Those used last, at the end. */
const catalogs = new Map<number, readonly ToolDefinition[]>();
const selectors = new Map<string, Selector>();

/** Looks for tools without a model, on the thread that it is called on. Without a text the catalog is indexed only. */
export async function find(
  settings: SelectorWork,
  catalog: SharedCatalog,
  wanted: Wanted | undefined,
): Promise<Found> {
  const tools = toolsOf(catalog);
  const key = JSON.stringify(settings);
  const selector = selectors.get(key) ?? createSelector(settings);
  selectors.set(key, selector);
  const notes: string[] = [];
  if (wanted === undefined) {
    await selector.prepare(tools);
    return { selected: [], nearest: [], notes };
  }
  const places = new Map(tools.map((tool, at) => [tool, at]));
  const placed = (ranked: readonly RankedTool[]): RankedAt[] =>
    ranked.map(({ tool, ...rank }) => ({ ...rank, at: places.get(tool) ?? -1 }));
  const { kind, task, limit } = wanted;
  if (kind === "select") {
    const selection = await selector.select({ task, tools, limit });
    const { selected, nearest } = selection;
    return { selected: placed(selected), nearest: placed(nearest), notes: selection.notes ?? notes };
  }
  const found = await selector.search({ task, tools, limit, onNote: (note) => notes.push(note) });
  return { selected: placed(found), nearest: [], notes };
}

function toolsOf({ id, pieces }: SharedCatalog): readonly ToolDefinition[] {
  const tools =
    catalogs.get(id) ?? pieces.flatMap((piece) => deserialize(new Uint8Array(piece)) as ToolDefinition[]);
  catalogs.delete(id);
  catalogs.set(id, tools);
  const [oldest] = catalogs.keys();
  if (catalogs.size > MAX_CATALOGS && oldest !== undefined) catalogs.delete(oldest);
  return tools;
}
