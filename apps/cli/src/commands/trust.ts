import { statSync } from "node:fs";
import type { TrustRecord } from "@cem/config";
import { CemError, WORKFLOW_FILE } from "@cem/core";
import type { TrustReport } from "code-execution-mcp/admin";
import type { Answer } from "../io/terminal.ts";
import { askYesNo } from "../ask/prompt.ts";
import { serverSourceOf } from "../command/options.ts";
import { renderRow } from "../render/rows.ts";
import { renderAsked, renderTrustItems } from "../run/agent-source.ts";
import { oneLine, safeData, shortPath, counted } from "../render/text.ts";
import { Option } from "commander";
import { answer, defineCommand } from "../command/define-command.ts";

export const trust = defineCommand<{ folder: string; yes: boolean; list: boolean; remove: boolean }>({
  name: "trust",
  group: "tools",
  about: "Allow what files of a folder ask for on this host",
  help: `
MCP servers, host tools (*.host.ts), folders outside of this one and keys for addresses that its files name are held
back until you say yes. The yes is for exactly what is shown: what changes later is held back again. For CI and
containers: CEM_TRUST_FOLDER=1, or a list of folders, in the environment.

Examples:
  cem trust                                   show what this folder asks for, and ask
  cem trust ../project --yes
  cem trust report.yaml                       a workflow whose steps fill in forms, as it is now
  cem trust --list
  cem trust --remove`,
  settings: ["config", "servers"],
  declare: (command) =>
    command
      .argument("[folder]", "the folder, or the file of a workflow", ".")
      .option("-y, --yes", "trust it without asking", false)
      .addOption(new Option("--list", "list the folders that are trusted").default(false).conflicts("remove"))
      .option("--remove", "trust the folder no longer", false),
  async run(invocation, context) {
    const { inspectTrust, listTrusted, trustItems } = await import("code-execution-mcp/admin");
    if (invocation.list) return answerToList(await listTrusted());
    if (invocation.remove) return untrust(invocation.folder);
    const { folder, yes, options } = invocation;
    const isWorkflow = WORKFLOW_FILE.test(folder);
    const source = { ...serverSourceOf(options, context), cwd: isWorkflow ? "." : folder };
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found === undefined || (!isWorkflow && !found.isDirectory()))
      throw new CemError("USAGE", `There is no ${isWorkflow ? "file" : "folder"} ${folder}.`, {
        details: { folder },
      });
    const report = await inspectTrust(source, isWorkflow ? folder : undefined, true);
    const { live } = context;
    if (live !== undefined && report.held.length > 0)
      live.write(`${renderAsked(safeData(report), live.style).join("\n")}\n`);
    const isAgreed =
      report.held.length > 0 &&
      (yes || (live !== undefined && (await askYesNo("Trust this folder?", context))));
    if (isAgreed) await trustItems(report.folder, report.requested);
    return answerToReport(report, isAgreed);
  },
});

function answerToReport(report: TrustReport, isAgreed: boolean): Answer {
  const { folder, requested, held } = report;
  const isDone = isAgreed || held.length === 0;
  const size = counted(requested.length, "thing");
  const outcome =
    requested.length === 0
      ? "Nothing here needs it: this folder asks for nothing on this host."
      : isDone
        ? `Trusted: ${size} that this folder asks for. When one changes, it is asked again.`
        : "Nothing was trusted. To trust it without being asked: cem trust --yes";
  return answer({
    data: { folder, requested, held, trusted: isDone },
    isDone,
    report: () => ["", `  ${outcome}`],
    brief: (shown) => (isDone ? shown.folder : ""),
  });
}

/** @throws CemError `USAGE` for a folder that was not trusted. */
async function untrust(folder: string): Promise<Answer> {
  const { untrustFolder } = await import("code-execution-mcp/admin");
  if (!(await untrustFolder(folder)))
    throw new CemError("USAGE", `${folder} was not trusted. See: cem trust --list`, { details: { folder } });
  return answer({
    data: { removed: folder },
    report: ({ removed }, style) => [
      "",
      ...renderRow("removed", `the trust in ${oneLine(shortPath(removed))}`, style),
    ],
    brief: ({ removed }) => removed,
  });
}

function answerToList(folders: TrustRecord["folders"]): Answer {
  return answer({
    data: { folders },
    report: (shown, style) =>
      Object.keys(folders).length === 0
        ? ["", "  No folder is trusted."]
        : Object.entries(shown.folders).flatMap(([name, { items, trustedAt }]) => [
            "",
            ...renderRow(trustedAt.slice(0, 10), oneLine(name), style),
            ...renderTrustItems(items, style),
          ]),
    brief: (shown) => Object.keys(shown.folders).join("\n"),
  });
}
