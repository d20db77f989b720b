import type { ToolCall, ToolDefinition, ToolInvoker, ToolResult } from "@cem/core";
import { stringify } from "safe-stable-stringify";

const MAX_RESULTS = 200;
const MAX_RESULT_CHARACTERS = 256 * 1024;

/**
 * Caches the results of read-only tools between attempts at one task, so that repaired code which makes the same call
 * again need not wait or pay for it. A call of any other tool may change what they return, and clears the cache.
 */
export class ReadCache {
  readonly #readOnly: ReadonlySet<string>;
  readonly #results = new Map<string, ToolResult>();

  /** @param tools - Every tool. Those with the annotation `readOnlyHint` are cached. */
  constructor(tools: readonly ToolDefinition[]) {
    const readOnly = tools.filter(({ annotations }) => annotations?.readOnlyHint === true);
    this.#readOnly = new Set(
      readOnly.flatMap(({ server, name, originalName = name }) => [
        toolKey(server, name),
        toolKey(server, originalName),
      ]),
    );
  }

  /** Clears the cache for a call that did not come through the invoker, unless its tool is read-only. */
  invalidateBy(server: string, tool: string): void {
    if (!this.#isReadOnly(server, tool)) this.#results.clear();
  }

  /**
   * Puts the cache in front of an invoker.
   *
   * @param answer - Whether calls are answered from the cache. Results are stored in either case.
   */
  wrap(invoker: ToolInvoker, { answer }: { answer: boolean }): ToolInvoker {
    return {
      specificationVersion: "v1",
      invoke: async (call, context) => {
        if (!this.#isReadOnly(call.server, call.tool)) {
          this.#results.clear();
          try {
            return await invoker.invoke(call, context);
          } finally {
            // A result stored meanwhile may be from before or after the change.
            this.#results.clear();
          }
        }
        const key = callKey(call);
        const cached = answer ? this.#results.get(key) : undefined;
        if (cached !== undefined) return cached;
        const result = await invoker.invoke(call, context);
        this.#store(key, result);
        return result;
      },
    };
  }

  #isReadOnly(server: string, tool: string): boolean {
    return this.#readOnly.has(toolKey(server, tool));
  }

  #store(key: string, result: ToolResult): void {
    if (!result.ok || this.#results.size >= MAX_RESULTS) return;
    if (JSON.stringify(result.value).length <= MAX_RESULT_CHARACTERS) this.#results.set(key, result);
  }
}

function toolKey(server: string, tool: string): string {
  return JSON.stringify([server, tool]);
}

/** The order of keys in arguments does not matter. */
function callKey({ server, tool, args }: ToolCall): string {
  return stringify([server, tool, args]);
}
