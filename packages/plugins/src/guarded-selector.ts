import { toErrorInfo, toolId } from "@cem/core";
import type { RankedTool, Selection, SelectRequest, ToolSelector } from "@cem/core";
import { idOf } from "./guarded-generator.ts";
import type { PluginUse } from "./plugin-use.ts";

const SELECT_TIMEOUT_MS = 10_000;
const PREPARE_TIMEOUT_MS = 60_000;

/** A selector of a plugin. */
export interface OwnedSelector {
  selector: ToolSelector;
  use: PluginUse;
}

/** Asks selectors of plugins in their order, and the last one where none of them picks a tool. */
export function askSelectors(own: readonly OwnedSelector[], last: ToolSelector): ToolSelector {
  if (own.length === 0) return last;
  return {
    specificationVersion: "v1",
    async select(request) {
      const notes: string[] = [];
      for (const { selector, use } of own) {
        const answer = await attempt(use, request, notes, (asked) => selector.select(asked));
        const selection = answer === undefined ? undefined : toSelection(answer, request, use, notes);
        if (selection === undefined || selection.selected.length === 0) continue;
        return { ...selection, notes: [...notes, ...(selection.notes ?? []), `by the plugin ${use.name}`] };
      }
      const selection = await last.select(request);
      return notes.length === 0 ? selection : { ...selection, notes: [...notes, ...(selection.notes ?? [])] };
    },
    async search(request) {
      const notes: string[] = [];
      for (const { selector, use } of own) {
        const ranked = toRanked(
          await attempt(use, request, notes, (asked) => selector.search(asked)),
          request,
        );
        if (ranked.length === 0) continue;
        for (const note of [...notes, `by the plugin ${use.name}`]) request.onNote?.(note);
        return request.limit === undefined ? ranked : ranked.slice(0, request.limit);
      }
      for (const note of notes) request.onNote?.(note);
      return last.search(request);
    },
    async prepare(tools) {
      const preparing = own.map(async ({ selector, use }) => {
        if (typeof selector.prepare !== "function") return;
        await use.call("selector", { timeoutMs: PREPARE_TIMEOUT_MS }, () => selector.prepare?.([...tools]));
      });
      await Promise.allSettled(preparing);
      await last.prepare?.(tools);
    },
  };
}

/** @returns `undefined` where the selector failed, which is noted. */
async function attempt<T>(
  use: PluginUse,
  request: SelectRequest,
  notes: string[],
  work: (request: SelectRequest) => Promise<T>,
): Promise<T | undefined> {
  const limits = { timeoutMs: SELECT_TIMEOUT_MS, signal: request.signal };
  try {
    return await use.call("selector", limits, (signal) =>
      work({ ...request, tools: [...request.tools], signal }),
    );
  } catch (error) {
    request.signal?.throwIfAborted();
    notes.push(toErrorInfo(error).message);
    return undefined;
  }
}

function toSelection(
  given: unknown,
  request: SelectRequest,
  use: PluginUse,
  problems: string[],
): Selection | undefined {
  const { selected, nearest, notes } = (given ?? {}) as Partial<Record<keyof Selection, unknown>>;
  if (!Array.isArray(selected)) {
    problems.push(use.unusable("selector", "it has to return { selected, nearest }").message);
    return undefined;
  }
  return {
    selected: toRanked(selected, request),
    nearest: toRanked(nearest, request),
    notes: Array.isArray(notes) ? notes.filter((note) => typeof note === "string") : undefined,
  };
}

/** Tools of the catalog, each once, whatever else the plugin says of them. */
function toRanked(given: unknown, { tools }: SelectRequest): RankedTool[] {
  if (!Array.isArray(given)) return [];
  const known = new Map(tools.map((tool) => [toolId(tool), tool]));
  return given.flatMap((one: Partial<Record<keyof RankedTool, unknown>> | undefined): RankedTool[] => {
    const id = idOf(one?.tool);
    const tool = known.get(id);
    if (tool === undefined) return [];
    known.delete(id);
    const score = Number(one?.score);
    const reason = typeof one?.reason === "string" ? one.reason : "";
    return [{ tool, score: score >= 0 && score <= 1 ? score : 0, reason }];
  });
}
