import { signaturesOf } from "@cem/tool-files/answers";
import { CemError } from "@cem/core";
import type { Agent } from "@cem/core";
import { DEFAULT_SEARCH_LIMIT } from "./options.ts";
import type { SearchToolsOptions } from "./options.ts";

/** The signatures of the tools that a query finds, with remarks on how they were found. */
export async function findTools(
  agent: Agent,
  query: string,
  { limit = DEFAULT_SEARCH_LIMIT }: SearchToolsOptions,
  signal: AbortSignal | undefined,
): Promise<string> {
  const notes: string[] = [];
  try {
    const found = await agent.searchTools(query, { limit, signal, onNote: (note) => notes.push(note) });
    const tools = found.map(({ tool }) => tool);
    const text =
      tools.length === 0 ? "Nothing was found: try other or fewer words." : signaturesOf(tools).text;
    return [text, ...notes.map((note) => `// ${note}`)].join("\n");
  } catch (error) {
    if (CemError.isInstance(error) && error.code === "QUERY_EMPTY") return error.message;
    throw error;
  }
}
