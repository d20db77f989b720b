import { exampleCall, findServer, toolId, type CatalogSnapshot, type RankedTool } from "@cem/core";
import { Option } from "commander";
import { answer, defineCommand } from "../command/define-command.ts";
import { CATALOG_SETTINGS, serverSourceOf, wholeNumber } from "../command/options.ts";
import { requireWords } from "../io/input.ts";
import {
  renderFound,
  renderFoundNotes,
  renderProblems,
  renderServer,
  renderServers,
} from "../render/catalog.ts";
import type { Detail } from "../render/catalog.ts";
import { safeData } from "../render/text.ts";
import { withAgent } from "../run/agent-source.ts";

/** `cem tools`: lists every server with its tools, or one server with signatures. MCP servers are contacted. */
export const tools = defineCommand<{ server?: string | undefined }>({
  name: "tools",
  group: "start",
  about: "List the servers and their tools",
  help: `
Examples:
  cem tools
  cem tools weather
  cem tools --json`,
  settings: CATALOG_SETTINGS,
  declare: (command) => command.argument("[server]", "one server, with the signatures of its tools"),
  async run({ server, options }, context) {
    const { listCatalog } = await import("code-execution-mcp/admin");
    const catalog = await listCatalog({ ...serverSourceOf(options, context), only: server });
    return answer({
      data: server === undefined ? catalog : onlyServer(server, catalog),
      report: ({ servers }, style) =>
        server === undefined
          ? renderServers(servers, style)
          : servers.flatMap((one) => renderServer(one, style)),
      brief: ({ servers }) => servers.flatMap(({ tools }) => tools.map(toolId)).join("\n"),
      complaint: ({ problems }, style) => renderProblems(problems, style),
    });
  },
});

/**
 * Reduces a catalog to one server. A server all of whose files are broken has problems only.
 *
 * @throws CemError `SERVER_NOT_FOUND`
 */
function onlyServer(name: string, { servers, problems, version }: CatalogSnapshot): CatalogSnapshot {
  const broken = problems.filter((problem) => problem.server === name);
  const isBroken = broken.length > 0 && servers.every((server) => server.name !== name);
  return {
    servers: isBroken ? [] : [findServer(name, { servers, problems: [] })],
    problems: broken,
    version,
  };
}

const DETAILS: readonly Detail[] = ["name", "description", "full"];
const MAX_RESULTS = 1_000;

export const search = defineCommand<{ query: string; detail: Detail; max: number }>({
  name: "search",
  group: "tools",
  about: "Find tools by what they do",
  help: `
Examples:
  cem search "read a file"
  cem search weather --detail full --max 3
  cem search weather --json`,
  settings: CATALOG_SETTINGS,
  declare: (command) =>
    command
      .argument("<query...>", "what the tool should do, in plain words")
      .addOption(new Option("--detail <level>", "how much to tell").choices(DETAILS).default("description"))
      .option("--max <count>", "the most tools to list", wholeNumber(1, MAX_RESULTS), 10),
  read: (command, named) => ({ ...named, query: command.args.join(" ") }),
  async run({ query, detail, max, options }, context) {
    const { readToolCode } = await import("code-execution-mcp/admin");
    requireWords(query, "query");
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
        return answer({
          data: { query, tools, notes },
          report: (shown, style) => [
            ...(found.length === 0
              ? ["", "  Nothing here fits. Try other or fewer words, or see what there is: cem tools"]
              : renderFound(safeData(found), detail, style, safeData(codes))),
            ...renderFoundNotes(shown.notes, style),
          ],
          brief: (shown) => shown.tools.map(({ server, tool }) => `${server}.${tool}`).join("\n"),
        });
      },
      { asksForTrust: false },
    );
  },
});

/** Maximum number of tools whose code is shown, best first. */
const MAX_SHOWN_CODES = 3;

function described({ tool, score, reason }: RankedTool, detail: Detail, source: string | undefined) {
  const { server, name, description, ...rest } = tool;
  const named = { server, tool: name, score, reason };
  if (detail === "name") return named;
  if (detail === "description") return { ...named, description };
  return { ...named, description, ...rest, example: exampleCall(tool), source };
}
