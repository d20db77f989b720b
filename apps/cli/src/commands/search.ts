import { exampleCall } from "@cem/core";
import type { RankedTool } from "@cem/core";
import { readToolCode } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { InvocationOf } from "../invocation.ts";
import type { Detail } from "../command-options.ts";
import { EXIT_OK } from "../exit-codes.ts";
import { requireIntact, requireText } from "../input.ts";
import { renderFound, renderFoundNotes } from "../render-catalog.ts";
import { safeData } from "../safe-text.ts";
import { withAgent } from "../with-agent.ts";

/** The most tools whose code is shown, the best first. */
const MAX_SHOWN_CODES = 3;

/** `cem search`: the tools that fit a query, best first. */
export async function searchTools(
  { query, detail, max, options }: InvocationOf<"search">,
  context: CommandContext,
): Promise<Answer> {
  requireText(query, "query", "the argument");
  requireIntact(query, "query");
  return withAgent(
    options,
    context,
    async (agent) => {
      const notes: string[] = [];
      const onNote = (note: string): void => void notes.push(note);
      const found = await agent.searchTools(query, { limit: max, signal: context.signal, onNote });
      const shown = detail === "full" ? found.slice(0, MAX_SHOWN_CODES) : [];
      const codes = await Promise.all(shown.map(({ tool }) => readToolCode(tool)));
      const tools = found.map((ranked, at) => described(ranked, detail, codes[at]));
      const safe = safeData(found);
      const safeCodes = safeData(codes);
      return {
        exitCode: EXIT_OK,
        data: { status: "success", query, tools, notes },
        report: (style) => [
          ...(found.length === 0
            ? ["", "  Nothing here fits. Try other or fewer words, or see what there is: cem tools"]
            : renderFound(safe, detail, style, safeCodes)),
          ...renderFoundNotes(safeData(notes), style),
        ],
        brief: () => safe.map(({ tool }) => `${tool.server}.${tool.name}`).join("\n"),
      };
    },
    { asksForTrust: false },
  );
}

function described({ tool, score, reason }: RankedTool, detail: Detail, source: string | undefined): object {
  const { server, name, description, ...rest } = tool;
  const named = { server, tool: name, score, reason };
  if (detail === "name") return named;
  if (detail === "description") return { ...named, description };
  return { ...named, description, ...rest, example: exampleCall(tool), source };
}
