import type { JsonValue, ToolCall, ToolDefinition, ToolInvoker, ToolResult } from "@cem/core";

const MAX_ANSWERS = 200;
/** A larger answer is asked for again. */
const MAX_ANSWER_CHARACTERS = 256 * 1024;

/**
 * Keeps what tools that only read have answered, so that a mended program which asks the same again need not wait, or
 * pay, for it. A call of any other tool may have changed what they would say, and empties it.
 */
export class AnsweredCalls {
  readonly #readOnly: ReadonlySet<string>;
  readonly #answers = new Map<string, ToolResult>();

  constructor(tools: readonly ToolDefinition[]) {
    const readers = tools.filter(({ annotations }) => annotations?.readOnlyHint === true);
    this.#readOnly = new Set(
      readers.flatMap(({ server, name, originalName }) => [
        callKey(server, name),
        callKey(server, originalName ?? name),
      ]),
    );
  }

  /** Tells of a call that did not come through the invoker: its tool ran in the guest. */
  called(server: string, tool: string): void {
    if (!this.#readOnly.has(callKey(server, tool))) this.#answers.clear();
  }

  /** The invoker with this memory in front: it answers from it, or only learns. */
  wrap(invoker: ToolInvoker, { answer }: { answer: boolean }): ToolInvoker {
    return {
      specificationVersion: "v1",
      invoke: async (call, context) => {
        const { server, tool } = call;
        if (!this.#readOnly.has(callKey(server, tool))) {
          this.#answers.clear();
          try {
            return await invoker.invoke(call, context);
          } finally {
            // What was read while it was under way may be of before or after.
            this.#answers.clear();
          }
        }
        const key = answerKey(call);
        const known = answer ? this.#answers.get(key) : undefined;
        if (known !== undefined) return known;
        const result = await invoker.invoke(call, context);
        this.#keep(key, result);
        return result;
      },
    };
  }

  #keep(key: string, result: ToolResult): void {
    if (!result.ok || this.#answers.size >= MAX_ANSWERS) return;
    if (JSON.stringify(result.value).length <= MAX_ANSWER_CHARACTERS) this.#answers.set(key, result);
  }
}

function callKey(server: string, tool: string): string {
  return JSON.stringify([server, tool]);
}

function answerKey({ server, tool, args }: ToolCall): string {
  return JSON.stringify([server, tool, args], (_, value: JsonValue) => sorted(value));
}

/** The order of an object's keys says nothing. */
function sorted(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
