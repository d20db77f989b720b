import { serverNotFound } from "@cem/core";
import type { CatalogSnapshot, ToolServer } from "@cem/core";
import { nearest } from "@cem/core/text";
import type { Answer } from "../io/command-context.ts";
import type { CommandContext } from "../io/command-context.ts";
import { serverSourceOf } from "../run/config-source.ts";
import { EXIT_OK } from "../errors.ts";
import { withHint } from "../errors.ts";
import { renderProblems, renderServer, renderServers } from "../render/catalog.ts";
import { safeData } from "../render/safe-text.ts";
import { addOptions, defineCommand } from "../command/define-command.ts";
import type { Given } from "../command/define-command.ts";
import { SETTING_OPTIONS } from "../command/options.ts";

/** `cem tools`: every server with its tools, or one server with signatures. Those that are upstream are tried. */
export const tools = defineCommand<{ server?: string | undefined }>({
  name: "tools",
  about: "List the servers and their tools",
  help: `
Examples:
  cem tools
  cem tools weather
  cem tools --json`,
  declare: (command) =>
    addOptions(command, SETTING_OPTIONS).argument("[server]", "one server, with the signatures of its tools"),
  run: listTools,
});

/** `cem tools`: every server with its tools, or one server with signatures. Those that are upstream are tried. */
async function listTools(
  { server, options }: Given<{ server?: string | undefined }>,
  context: CommandContext,
): Promise<Answer> {
  const { listCatalog } = await import("code-execution-mcp/admin");
  const catalog = await listCatalog({
    ...serverSourceOf(options, context),
    only: server,
  });
  const snapshot = withHints(server === undefined ? catalog : onlyServer(server, catalog));
  const safe = safeData(snapshot);
  return {
    exitCode: EXIT_OK,
    data: { status: "success", ...snapshot },
    report: (style) =>
      server === undefined
        ? renderServers(safe.servers, style)
        : safe.servers.flatMap((one) => renderServer(one, style)),
    brief: () =>
      safe.servers.flatMap(({ tools }) => tools.map((tool) => `${tool.server}.${tool.name}`)).join("\n"),
    complaint: (style) => renderProblems(safe.problems, style),
  };
}

/**
 * What a catalog has of one server. A server all of whose files are broken has problems only.
 *
 * @throws CemError `SERVER_NOT_FOUND`
 */
function onlyServer(name: string, { servers, problems, version }: CatalogSnapshot): CatalogSnapshot {
  const found = servers.filter((server) => server.name === name);
  const broken = problems.filter((problem) => problem.server === name);
  if (found.length + broken.length > 0) return { servers: found, problems: broken, version };
  const known = servers.map((server) => server.name);
  throw serverNotFound(name, { known, nearest: nearest(name, known)[0] });
}

/** The catalog with what helps against what keeps its tools from being called. */
function withHints({ servers, ...rest }: CatalogSnapshot): CatalogSnapshot {
  const explained = servers.map((server): ToolServer => {
    const tools = server.tools.map((tool) =>
      tool.unavailable === undefined ? tool : { ...tool, unavailable: withHint(tool.unavailable) },
    );
    return { ...server, tools };
  });
  return { ...rest, servers: explained };
}
