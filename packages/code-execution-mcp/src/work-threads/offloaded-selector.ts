import { setImmediate as nextTurn } from "node:timers/promises";
import { serialize } from "node:v8";
import { moduleBeside, offload } from "@cem/core";
import type { RankedTool, SelectRequest, ToolDefinition } from "@cem/core";
import type { Selector } from "@cem/selector";
import type { Found, RankedAt, SelectorWork, SharedCatalog, Wanted } from "./selection-work.ts";

/** A longer task or query, or more tools, are searched where nobody waits for the thread. */
const MAX_QUICK_CHARACTERS = 500;
const MAX_QUICK_TOOLS = 500;
/** Tools that are serialized in one turn of the event loop. */
const TOOLS_PER_TURN = 200;
const MAX_CATALOGS = 4;
/** Indexing a catalog of many thousand tools takes seconds. */
const TIMEOUT_MS = 30_000;

/**
 * Has long texts and large catalogs read by the process's threads. A selector with a model keeps them, since it has the
 * vectors.
 */
export function offloadSelection(selector: Selector, settings: SelectorWork): Selector {
  if (selector.semantics.state !== "off") return selector;
  const catalogs = new SharedCatalogs();
  const find = async (
    tools: readonly ToolDefinition[],
    wanted: Wanted | undefined,
    signal?: AbortSignal,
  ): Promise<Found | undefined> => {
    if ((wanted?.task.length ?? 0) <= MAX_QUICK_CHARACTERS && tools.length <= MAX_QUICK_TOOLS)
      return undefined;
    return offload<Found | undefined>(
      async () => {
        const args = [settings, await catalogs.get(tools), wanted];
        return {
          module: moduleBeside("selection-work", import.meta.url),
          name: "find",
          args,
          timeoutMs: TIMEOUT_MS,
          signal,
        };
      },
      () => undefined,
    );
  };
  const originals = (found: readonly RankedAt[], tools: readonly ToolDefinition[]): RankedTool[] =>
    found.flatMap(({ at, ...rank }) => {
      const tool = tools[at];
      return tool === undefined ? [] : [{ tool, ...rank }];
    });
  return {
    specificationVersion: "v1",
    semantics: selector.semantics,
    async prepare(tools) {
      if ((await find(tools, undefined)) === undefined) await selector.prepare(tools);
    },
    async select(request) {
      const { task, tools, limit, signal } = request;
      const found = await find(tools, { kind: "select", task, limit }, signal);
      if (found === undefined) return selector.select(request);
      const [selected, nearest] = [originals(found.selected, tools), originals(found.nearest, tools)];
      return { selected, nearest, notes: found.notes };
    },
    async search(request: SelectRequest) {
      const { task, tools, limit, signal, onNote } = request;
      const found = await find(tools, { kind: "search", task, limit }, signal);
      if (found === undefined) return selector.search(request);
      for (const note of found.notes) onNote?.(note);
      return originals(found.selected, tools);
    },
    dispose: () => selector.dispose(),
  };
}

interface Entry {
  tools: readonly ToolDefinition[];
  shared: Promise<SharedCatalog>;
}

/** The catalogs searched last, in memory that threads share. */
class SharedCatalogs {
  static #last = 0;
  #entries: Entry[] = [];

  get(tools: readonly ToolDefinition[]): Promise<SharedCatalog> {
    const known = this.#entries.find((entry) => isSame(entry.tools, tools));
    const entry = known ?? { tools: [...tools], shared: share(++SharedCatalogs.#last, tools) };
    this.#entries = [entry, ...this.#entries.filter((other) => other !== entry)].slice(0, MAX_CATALOGS);
    return entry.shared;
  }
}

async function share(id: number, tools: readonly ToolDefinition[]): Promise<SharedCatalog> {
  const pieces: SharedArrayBuffer[] = [];
  for (let from = 0; from < tools.length; from += TOOLS_PER_TURN) {
    const bytes = serialize(tools.slice(from, from + TOOLS_PER_TURN));
    const piece = new SharedArrayBuffer(bytes.byteLength);
    new Uint8Array(piece).set(bytes);
    pieces.push(piece);
    await nextTurn();
  }
  return { id, pieces };
}

/** Whether two lists have the same tools, which are never changed in place. */
function isSame(one: readonly ToolDefinition[], other: readonly ToolDefinition[]): boolean {
  return one.length === other.length && one.every((tool, at) => tool === other[at]);
}
