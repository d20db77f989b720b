import { CemError } from "@cem/core";
import { inspectTrust, listTrusted, trustItems, untrustFolder } from "code-execution-mcp/admin";
import type { TrustReport } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { askYesNo } from "../ask-yes-no.ts";
import type { InvocationOf } from "../invocation.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { renderRow } from "../render-rows.ts";
import { renderAsked, renderTrustItems } from "../render-trust.ts";
import { oneLine, safeData } from "../safe-text.ts";
import { shortPath } from "../short-path.ts";
import { counted } from "../text-layout.ts";

/** `cem trust`: shows what files of a folder ask for on this host, and allows it after a yes. */
export async function trust(invocation: InvocationOf<"trust">, context: CommandContext): Promise<Answer> {
  if (invocation.list) return answerToList(await listTrusted());
  if (invocation.remove) return untrust(invocation.folder);
  const { folder, yes, options } = invocation;
  const source = { ...serverSourceOf(options, context), cwd: folder };
  const report = await inspectTrust(source);
  const { live } = context;
  if (live !== undefined && report.held.length > 0) {
    live.write(`${renderAsked(safeData(report), live.style).join("\n")}\n`);
  }
  const isAgreed =
    report.held.length > 0 &&
    (yes || (live !== undefined && (await askYesNo("Trust this folder?", context))));
  if (isAgreed) await trustItems(report.folder, report.requested);
  return answerToReport(report, isAgreed);
}

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
  return {
    exitCode: isDone ? EXIT_OK : EXIT_FAILED,
    data: { status: isDone ? "success" : "error", folder, requested, held, trusted: isDone },
    report: () => ["", `  ${outcome}`],
    brief: () => (isDone ? folder : ""),
  };
}

/** @throws CemError `USAGE` for a folder that was not trusted. */
async function untrust(folder: string): Promise<Answer> {
  if (!(await untrustFolder(folder))) {
    throw new CemError("USAGE", `${folder} was not trusted. See: cem trust --list`, { details: { folder } });
  }
  return {
    exitCode: EXIT_OK,
    data: { status: "success", removed: folder },
    report: (style) => ["", ...renderRow("removed", `the trust in ${oneLine(shortPath(folder))}`, style)],
    brief: () => folder,
  };
}

function answerToList(folders: Awaited<ReturnType<typeof listTrusted>>): Answer {
  const safe = safeData(folders);
  const names = Object.keys(safe);
  return {
    exitCode: EXIT_OK,
    data: { status: "success", folders },
    report: (style) =>
      names.length === 0
        ? ["", "  No folder is trusted."]
        : Object.entries(safe).flatMap(([name, { items, trustedAt }]) => [
            "",
            ...renderRow(trustedAt.slice(0, 10), oneLine(name), style),
            ...renderTrustItems(items, style),
          ]),
    brief: () => names.join("\n"),
  };
}
