import { setImmediate as nextTurn } from "node:timers/promises";
import { Lazy, moduleBeside, offload, type ToolDefinition } from "@cem/core";
import { callable, toolsOf } from "./catalog.ts";
import { loadTypeChecker, prepareTypeChecker } from "./review.ts";
import type { RunContext, Stages, Program } from "./stages.ts";

/** Starts the parts that a run of given code needs. A failure is reported when the part is used. */
export async function prepareCode(context: RunContext, code: string): Promise<void> {
  const { sandbox, guard, catalog, tokenCounter } = context.stages;
  // Servers take the longest to start.
  await prepareCalls(context, code);
  prepareTypeChecker(context);
  await startInTurn([sandbox, guard, catalog, tokenCounter]);
}

/** Starts the servers that the calls of code need. A failure is reported by the call. */
export async function prepareCalls({ stages }: RunContext, code: string): Promise<void> {
  await stages.settings.onCode?.(code).catch(() => {});
}

/** Starts the parts that a task needs. A failure is reported at their use. The type checker is for a model's code. */
export async function prepareTask(context: RunContext): Promise<void> {
  const { sandbox, catalog, selector, generator, guard, tokenCounter } = context.stages;
  if (context.options.typeCheck !== undefined) prepareTypeChecker(context);
  await startInTurn([sandbox, catalog, selector, generator, guard, tokenCounter]);
}

/**
 * Warms up everything that a first request may need.
 *
 * @throws what that request would throw: the error of a stage that can't be created, or the signal's reason.
 */
export async function warm(stages: Stages, signal: AbortSignal): Promise<void> {
  const { sandbox, guard, catalog, selector, generator, tokenCounter } = stages;
  const checker = loadTypeChecker({ options: {}, stages });
  checker.catch(() => {});
  await startInTurn([sandbox, guard, catalog, selector, generator, tokenCounter]);
  const parts = [sandbox, guard, generator, tokenCounter].map((part): Promise<unknown> => part.get());
  await Promise.all([checker, indexTools(stages, signal), ...parts]);
}

async function indexTools({ catalog, selector }: Stages, signal: AbortSignal): Promise<void> {
  const snapshot = await (await catalog.get()).list({ signal });
  await (await selector.get()).prepare?.(callable(toolsOf(snapshot)), snapshot.version);
}

/** Starts each part in its own turn of the event loop, so that a process starts before the next modules are loaded. */
async function startInTurn(parts: readonly Lazy<unknown>[]): Promise<void> {
  for (const part of parts) {
    if (part.isStarted) continue;
    await nextTurn();
    part.get().catch(() => {});
  }
}

const work = new Lazy(() => import("./auto-export-work.ts"));

/**
 * Normalizes code: removes a Markdown fence, converts `require`, adds missing imports of tools that it calls, and exports
 * the result of a model's program that computes but does not export it.
 *
 * @returns the program, and notes on the additions.
 */
export async function normalizeProgram(
  program: Program,
  tools: readonly ToolDefinition[],
  signal: AbortSignal,
): Promise<{ program: Program; notes: string[] }> {
  const { isQuicklyRead, normalizeCode } = await work.get();
  const { code: given, origin } = program;
  const importable = callable(tools);
  const here = () => normalizeCode(given, origin, importable);
  const { code, added } = isQuicklyRead(given)
    ? here()
    : await offload(() => {
        const named = importable.map(({ name, module, server }) => ({ name, module, server }));
        const module = moduleBeside("auto-export-work", import.meta.url);
        return { module, name: "normalizeCode", args: [given, origin, named], signal };
      }, here);
  return {
    program: { ...program, code },
    notes: added.length > 0 ? [`Added to the code: ${added.join(" ")}`] : [],
  };
}
