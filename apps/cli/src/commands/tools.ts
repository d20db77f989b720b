import { CemError } from "@cem/core";
import type { CatalogSnapshot, ToolProblem, ToolServer } from "@cem/core";
import { nearest } from "@cem/text";
import type { Answer } from "../answer.ts";
import type { Invocation } from "../command-line.ts";
import { configSourceOf } from "../config-overrides.ts";
import { EXIT_OK, MISUSE } from "../exit-codes.ts";
import { logOption } from "../log-option.ts";
import { renderProblems, renderServer, renderServers } from "../render-catalog.ts";
import { safeData } from "../safe-text.ts";
import type { CommandContext } from "./index.ts";

type ToolsInvocation = Extract<Invocation, { command: "tools" }>;

/** `cem tools`: every server with its tools, or one server with signatures. Those that are upstream are tried. */
export async function listTools(
  { server, options }: ToolsInvocation,
  { signal }: CommandContext,
): Promise<Answer> {
  const { listCatalog } = await import("code-execution-mcp/admin");
  const { servers, problems, version } = await listCatalog({
    ...configSourceOf(options),
    ...logOption(options),
    ...(server === undefined ? {} : { only: server }),
    signal,
  });
  const snapshot: CatalogSnapshot =
    server === undefined
      ? { servers, problems, version }
      : {
          servers: [findServer(servers, problems, server)].filter((found) => found !== undefined),
          problems: problems.filter((problem) => problem.server === server),
          version,
        };
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

/** @throws CemError `SERVER_NOT_FOUND`. A server all of whose files are broken is known, and has problems only. */
function findServer(
  servers: readonly ToolServer[],
  problems: readonly ToolProblem[],
  name: string,
): ToolServer | undefined {
  const found = servers.find((server) => server.name === name);
  if (found !== undefined || problems.some((problem) => problem.server === name)) return found;
  const names = servers.map((server) => server.name);
  const [near] = nearest(name, names);
  const suggestion =
    near === undefined
      ? `There ${names.length === 1 ? "is" : "are"}: ${names.join(", ") || "none"}.`
      : `Did you mean ${near}?`;
  throw new CemError(MISUSE.unknownServer, `There is no server "${name}". ${suggestion}`, {
    details: { server: name, servers: names },
  });
}
