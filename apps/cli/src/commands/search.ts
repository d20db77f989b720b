import type { RankedTool } from "@cem/core";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { InvocationOf } from "../invocation.ts";
import type { Detail } from "../command-options.ts";
import { EXIT_OK } from "../exit-codes.ts";
import { requireIntact, requireText } from "../input.ts";
import { renderFound, renderFoundNotes } from "../render-catalog.ts";
import { safeData } from "../safe-text.ts";
import { withAgent } from "../with-agent.ts";

/** `cem search`: the tools that fit a query, best first. */
export async function searchTools(
  { query, detail, max, options }: InvocationOf<"search">,
  context: CommandContext,
): Promise<Answer> {
  requireText(query, "query", "the argument");
  requireIntact(query, "query");
  return withAgent(options, context, async (agent) => {
    const notes: string[] = [];
    const onNote = (note: string): void => void notes.push(note);
    const found = await agent.searchTools(query, { limit: max, signal: context.signal, onNote });
    const safe = safeData(found);
    return {
      exitCode: EXIT_OK,
      data: { status: "success", query, tools: found.map((ranked) => described(ranked, detail)), notes },
      report: (style) =>
        found.length === 0
          ? ["", `  Nothing here fits. See what there is: cem tools`]
          : [...renderFound(safe, detail, style), ...renderFoundNotes(safeData(notes), style)],
      brief: () => safe.map(({ tool }) => `${tool.server}.${tool.name}`).join("\n"),
    };
  });
}

function described({ tool, score, reason }: RankedTool, detail: Detail): object {
  const { server, name, description, ...rest } = tool;
  const named = { server, tool: name, score, reason };
  if (detail === "name") return named;
  return detail === "description" ? { ...named, description } : { ...named, description, ...rest };
}
