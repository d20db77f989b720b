import { signaturesOf } from "@cem/answers";
import type { HintFor } from "@cem/answers";
import type { RankedTool, ToolServer } from "@cem/core";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { MAX_SEARCH_RESULTS } from "../limits.ts";
import { answerValue, declareTool, READ_ONLY, text } from "../server-tool.ts";
import { serversOf } from "./catalog-tools.ts";
import { codesOf } from "./tool-text.ts";

const DEFAULT_RESULTS = 10;
/** The most servers that are named when nothing was found. */
const MAX_NAMED_SERVERS = 20;

type Detail = "signature" | "name" | "description" | "full";

export const searchTools = declareTool<{
  query: string;
  detail_level?: Detail | undefined;
  max_results?: number | undefined;
}>({
  name: "search_tools",
  title: "Search tools",
  description: ({ guest }) =>
    `Find tools by what they do, with signatures; "full" adds examples and code.${guest.hasMcpServers === true ? " Resources and prompts have tools too." : ""}`,
  input: {
    type: "object",
    properties: {
      query: text,
      detail_level: { enum: ["signature", "name", "description", "full"] },
      max_results: { type: "integer", minimum: 1, maximum: MAX_SEARCH_RESULTS, default: DEFAULT_RESULTS },
    },
    required: ["query"],
  },
  output: { type: "object" },
  annotations: READ_ONLY,
  async handle(
    { query, detail_level: detail = "signature", max_results: limit = DEFAULT_RESULTS },
    host,
    context,
  ) {
    const { signal } = context.mcpReq;
    const notes: string[] = [];
    const onNote = (note: string): void => void notes.push(note);
    // One more than can be asked for, so that an answer knows whether it is all.
    const all = await host.agent.searchTools(query, { limit: MAX_SEARCH_RESULTS + 1, signal, onNote });
    const found = all.slice(0, limit);
    if (all.length > limit) notes.push(moreMatches(all.length, limit));
    if (found.length === 0) notes.push(whatToTry(await serversOf(host.agent, signal)));
    const answer = await answerFound(found, detail, host.hintFor);
    if (notes.length > 0) answer.content.push({ type: "text", text: notes.map(asSentence).join(" ") });
    return answer;
  },
});

async function answerFound(
  found: readonly RankedTool[],
  detail: Detail,
  hintFor: HintFor | undefined,
): Promise<CallToolResult> {
  const tools = found.map(({ tool }) => tool);
  switch (detail) {
    case "signature": {
      const { data, text: shown } = signaturesOf(tools, hintFor);
      const content = tools.length === 0 ? [] : [{ type: "text" as const, text: shown }];
      return { content, structuredContent: data };
    }
    case "name":
      return answerValue(byServer(found, (all) => all.map(({ tool }) => tool.name)));
    case "description":
      return answerValue(
        byServer(found, (all) =>
          Object.fromEntries(all.map(({ tool }) => [tool.name, { description: tool.description }])),
        ),
      );
    case "full": {
      const codes = new Map(await codesOf(tools, hintFor));
      return answerValue(
        byServer(found, (all) => Object.fromEntries(all.map(({ tool }) => [tool.name, codes.get(tool)]))),
      );
    }
  }
}

/** `{server: …}`, the best match of each server first. */
function byServer<Shown>(
  found: readonly RankedTool[],
  show: (found: readonly RankedTool[]) => Shown,
): { [server: string]: Shown } {
  const servers = Map.groupBy(found, ({ tool }) => tool.server);
  return Object.fromEntries([...servers].map(([server, all]) => [server, show(all)]));
}

function moreMatches(found: number, limit: number): string {
  if (found <= MAX_SEARCH_RESULTS) return `${found - limit} more match: "max_results": ${found} shows them`;
  const rest = limit < MAX_SEARCH_RESULTS ? `"max_results" up to ${MAX_SEARCH_RESULTS} shows more, or ` : "";
  return `more than ${MAX_SEARCH_RESULTS - limit} more match: ${rest}use a narrower query`;
}

function whatToTry(servers: readonly ToolServer[]): string {
  const names = servers.slice(0, MAX_NAMED_SERVERS).map(({ name }) => name);
  if (names.length === 0) return "there are no tools here yet";
  const left = servers.length - names.length;
  const others = left > 0 ? ` and ${left} more` : "";
  return `try other or fewer words, or the name of a server: ${names.join(", ")}${others}`;
}

function asSentence(note: string): string {
  return `${note.charAt(0).toUpperCase()}${note.slice(1)}${/[.!?…]$/u.test(note) ? "" : "."}`;
}
