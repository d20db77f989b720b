import type { RunOutcome, TaskResult, ToolDefinition } from "@cem/core";
import type { TokenCounter } from "@cem/core/tokens";

/** Limit of counted characters. For longer texts the count of the beginning is scaled up. */
const COUNTED_CHARACTERS = 4 * 1024;

function scaled(count: TokenCounter, sample: string, characters: number): number {
  if (sample.length === 0) return 0;
  const head = sample.length > COUNTED_CHARACTERS ? sample.slice(0, COUNTED_CHARACTERS) : sample;
  return Math.round((count(head) * characters) / head.length);
}

export function countText(text: string, count: TokenCounter): number {
  return scaled(count, text, text.length);
}

/** A tool definition as clients pass it to a model. */
function definitionText({ name, description, inputSchema }: ToolDefinition): string {
  return JSON.stringify({ name, description, inputSchema });
}

/** Original names of server requests offered as tools, which a client can make without such tools. */
const SERVER_REQUEST = /^mcp:/u;

/** The tools that a model would read without code execution: those of servers on the host, or else file tools. */
export function directTools(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  const ofServers = tools.filter(
    ({ kind, originalName = "" }) => kind === "host" && !SERVER_REQUEST.test(originalName),
  );
  return ofServers.length > 0 ? ofServers : tools.filter(({ kind }) => kind !== "skill");
}

/** Maximum number of definitions counted. The tokens of further ones are estimated from their length. */
const COUNTED_DEFINITIONS = 500;

/** Creates a function that counts the tokens of tool definitions, each definition once. */
export function createDefinitionTokens(): (tools: readonly ToolDefinition[], count: TokenCounter) => number {
  const byText = new Map<string, number>();
  /** Totals of the counted definitions. */
  const counted = { tokens: 0, characters: 0 };
  const byDefinition = new WeakMap<ToolDefinition, number>();
  const countOnce = (text: string, count: TokenCounter): number => {
    if (byText.size === COUNTED_DEFINITIONS)
      return Math.round((text.length * counted.tokens) / counted.characters);
    const tokens = countText(text, count);
    byText.set(text, tokens);
    counted.tokens += tokens;
    counted.characters += text.length;
    return tokens;
  };
  return (tools, count) => {
    let sum = 0;
    for (const tool of tools) {
      const text = byDefinition.has(tool) ? "" : definitionText(tool);
      const tokens = byDefinition.get(tool) ?? byText.get(text) ?? countOnce(text, count);
      byDefinition.set(tool, tokens);
      sum += tokens;
    }
    return sum;
  };
}

/**
 * Compares the tokens of calling tools directly with those of a run.
 *
 * @param definitions - Tokens of all tool definitions.
 * @param results - The results of the run's tool calls.
 * @param returned - The value, the output and the error message of the run.
 */
export function contextTokens(
  definitions: number,
  results: RunOutcome["toolResults"],
  returned: string,
  count: TokenCounter,
): TaskResult["contextTokens"] {
  let direct = definitions;
  for (const result of results) direct += scaled(count, result.sample, result.characters);
  const used = countText(returned, count);
  return { direct, used, saved: Math.max(0, direct - used) };
}
