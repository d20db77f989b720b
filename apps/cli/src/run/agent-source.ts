import type { Agent } from "@cem/core";
import type { AgentOptions, OwnWorkflows } from "code-execution-mcp";
import type { HeldItem, TrustItem } from "@cem/config";
import { askingOf } from "../ask/terminal-questions.ts";
import { serverSourceOf, type SharedOptions } from "../command/options.ts";
import type { CommandContext } from "../io/terminal.ts";
import { askYesNo } from "../ask/prompt.ts";
import { renderRow } from "../render/rows.ts";
import { cut, oneLine, safeData, safeText, shortPath, type Style } from "../render/text.ts";

/** A command can be long, and its end matters too. */
const MAX_TEXT_COLUMNS = 2_000;
const MAX_FILES = 12;

/** Renders held-back items for the question whether to trust the folder. */
export function renderAsked({ folder, held }: { folder: string; held: readonly HeldItem[] }, style: Style) {
  const heading = `Files of ${oneLine(folder)} ask for this on your machine, outside of the sandbox:`;
  return ["", `  ${heading}`, "", ...renderTrustItems(held, style)];
}

/** Renders a folder's requests on this host, one row each, with their previously trusted value. */
export function renderTrustItems(items: readonly (TrustItem | HeldItem)[], style: Style): string[] {
  return items.flatMap((item) => {
    const { kind, files } = item;
    const before = "before" in item ? item.before : undefined;
    const shown = files.slice(0, MAX_FILES).map((file) => oneLine(file));
    const more = files.length > shown.length ? ` and ${files.length - shown.length} more` : "";
    return [
      ...renderRow(kind.replace("-", " "), textOf(item), style),
      ...note(files.length === 0 ? undefined : `as it is now: ${shown.join(", ")}${more}`, style),
      ...note(before && changeOf(before, item), style),
    ];
  });
}

function changeOf(before: TrustItem, item: TrustItem): string | undefined {
  if (before.digest === item.digest) return undefined;
  const [was, is] = [textOf(before), textOf(item)];
  return was === is ? "changed since it was trusted" : `changed since it was trusted: ${was}`;
}

function note(text: string | undefined, style: Style): string[] {
  return text === undefined ? [] : renderRow("", text, style).map(style.colors.dim);
}

function textOf({ name, text }: TrustItem): string {
  return `${oneLine(name)}  ${cut(oneLine(text), MAX_TEXT_COLUMNS)}`;
}

/**
 * Asks whether to trust the folder if its files request something that is held back. If the terminal is not interactive,
 * lists the held-back items once on stderr, and the command continues without them. Ignored parts of the configuration are
 * reported there, too.
 *
 * @param asks - `false` if the command does not need the held-back items.
 */
export async function settleTrust(options: SharedOptions, context: CommandContext, asks = true) {
  const { inspectTrust, trustItems } = await import("code-execution-mcp/admin");
  const { io, live } = context;
  const { folder, requested, held, warnings } = await inspectTrust(serverSourceOf(options, context));
  if (!options.json && !options.quiet) for (const text of warnings) io.stderr.write(`${safeText(text)}\n`);
  if (held.length === 0) return;
  if (!asks || live === undefined || io.stdin.isTTY !== true) {
    if (options.json || options.quiet) return;
    const named = options.config === undefined ? "" : ` --config ${shortPath(options.config)}`;
    const { describeHeld } = await import("@cem/config");
    const remark = `${describeHeld(held, folder)} See it and allow it with: cem trust${named}`;
    io.stderr.write(`${safeText(remark)}\n`);
    return;
  }
  live.write(`${renderAsked(safeData({ folder, held }), live.style).join("\n")}\n`);
  if (await askYesNo("Trust this folder?", context)) await trustItems(folder, requested);
}

/** Runs work with an agent for the options, and frees everything afterwards. */
export async function withAgent<T>(
  options: SharedOptions,
  context: CommandContext,
  work: (agent: Agent) => Promise<T>,
  {
    asksForTrust = true,
    ...agentOptions
  }: { asksForTrust?: boolean } & Pick<
    AgentOptions,
    "onPlannedWrite" | "approvedWrites" | "resume" | "replay"
  > = {},
): Promise<T> {
  await settleTrust(options, context, asksForTrust);
  const { createAgent } = await import("code-execution-mcp");
  const { signal: _signal, ...source } = serverSourceOf(options, context);
  const asking = askingOf(context);
  await using agent = createAgent({ ...source, ...agentOptions, oneRun: true, records: true, ...asking });
  return await work(agent);
}

/** Runs work with a workflow engine, and frees everything afterwards. */
export async function withWorkflows<T>(
  options: SharedOptions,
  context: CommandContext,
  work: (workflows: OwnWorkflows) => Promise<T>,
): Promise<T> {
  await settleTrust(options, context);
  const { openWorkflows } = await import("code-execution-mcp");
  const { signal: _signal, ...source } = serverSourceOf(options, context);
  const workflows = await openWorkflows({ ...source, records: true, ...askingOf(context) });
  try {
    return await work(workflows);
  } finally {
    await workflows.dispose();
  }
}
