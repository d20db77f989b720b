import type { ToolDefinition } from "@cem/core";
import { declareRoute } from "./api-route.ts";
import { Catalog, Found, SearchQuery } from "./schemas.ts";
import type { Tool } from "./schemas.ts";

/** The catalog and its search. */
export const CATALOG_ROUTES = [
  declareRoute({
    method: "get",
    path: "/tools",
    operationId: "listTools",
    summary: "List the tools by server",
    input: {},
    answer: Catalog,
    answerDescription: "All servers with their tools.",
    async handle(_, { client }, signal) {
      const { servers, problems } = await client.agent.discoverTools({ signal });
      return {
        servers: servers.map(({ tools, ...rest }) => ({ ...rest, tools: tools.map(toolOf) })),
        problems: problems.map(({ server, message }) => ({ server, message })),
      };
    },
  }),
  declareRoute({
    method: "get",
    path: "/tools/search",
    operationId: "searchTools",
    summary: "Search for tools by what they do",
    input: { query: SearchQuery },
    answer: Found,
    answerDescription: "The tools that match, best first.",
    async handle({ query: { query, limit } }, { client }, signal) {
      const notes: string[] = [];
      const onNote = (note: string): void => void notes.push(note);
      const found = await client.agent.searchTools(query, { limit, signal, onNote });
      return { tools: found.map(({ tool, ...rest }) => ({ ...rest, tool: toolOf(tool) })), notes };
    },
  }),
];

function toolOf(tool: ToolDefinition): Tool {
  const { server, name, description, signature, module, annotations, unavailable, flags = [] } = tool;
  return {
    server,
    name,
    description,
    signature,
    module,
    readOnly: annotations?.readOnlyHint === true,
    ...(unavailable !== undefined && { unavailable: unavailable.message }),
    warnings: flags.map(({ rule, place }) => `${rule} in ${place}`),
  };
}
