import type { ContextTokens, ToolDefinition, ToolResultSample } from "@cem/core";
import type { TokenCounter } from "@cem/tokens";

/** Beyond this many characters a text is counted by its beginning and scaled up. */
const COUNTED_CHARACTERS = 64 * 1024;

function scaled(count: TokenCounter, sample: string, characters: number): number {
  if (sample.length === 0) return 0;
  const head = sample.length > COUNTED_CHARACTERS ? sample.slice(0, COUNTED_CHARACTERS) : sample;
  return Math.round((count(head) * characters) / head.length);
}

/** Tokens of a text, however long. */
export function countText(text: string, count: TokenCounter): number {
  return scaled(count, text, text.length);
}

/** What a model reads of one tool in a `tools/list` answer. */
function definitionText(tool: ToolDefinition): string {
  const { name, description, inputSchema, outputSchema } = tool;
  return JSON.stringify({ name, description, inputSchema, outputSchema });
}

/** Counts each definition once, however often it is asked for. */
export class DefinitionTokens {
  readonly #byText = new Map<string, number>();
  readonly #byDefinition = new WeakMap<ToolDefinition, number>();

  total(tools: readonly ToolDefinition[], count: TokenCounter): number {
    let sum = 0;
    for (const tool of tools) sum += this.#one(tool, count);
    return sum;
  }

  #one(tool: ToolDefinition, count: TokenCounter): number {
    const known = this.#byDefinition.get(tool);
    if (known !== undefined) return known;
    const text = definitionText(tool);
    const tokens = this.#byText.get(text) ?? countText(text, count);
    this.#byText.set(text, tokens);
    this.#byDefinition.set(tool, tokens);
    return tokens;
  }
}

export function contextTokens(
  definitions: number,
  results: readonly ToolResultSample[],
  cameBack: string,
  count: TokenCounter,
): ContextTokens {
  let direct = definitions;
  for (const result of results) direct += scaled(count, result.sample, result.characters);
  const used = countText(cameBack, count);
  return { direct, used, saved: Math.max(0, direct - used) };
}
