import { describeHeld } from "@cem/config";
import { inspectTrust, trustItems } from "code-execution-mcp/admin";
import { askYesNo } from "./ask-yes-no.ts";
import type { CommandContext } from "./command-context.ts";
import type { SharedOptions } from "./command-options.ts";
import { serverSourceOf } from "./config-source.ts";
import { renderAsked } from "./render-trust.ts";
import { shortPath } from "./short-path.ts";
import { safeData, safeText } from "./safe-text.ts";

/**
 * Asks whether to trust the folder where files of it ask for something that is held back. Where nobody can be asked, it says
 * once, on stderr, what is held back; the command goes on without it. What of the configuration is ignored is said there, too.
 *
 * @param asks - `false` where the command can do all of its work without.
 */
export async function settleTrust(
  options: SharedOptions,
  context: CommandContext,
  asks = true,
): Promise<void> {
  const { io, live } = context;
  const { folder, requested, held, warnings } = await inspectTrust(serverSourceOf(options, context));
  if (!options.json && !options.quiet) for (const text of warnings) io.stderr.write(`${safeText(text)}\n`);
  if (held.length === 0) return;
  if (!asks || live === undefined || io.stdin.isTTY !== true) {
    if (options.json || options.quiet) return;
    const named = options.config === undefined ? "" : ` --config ${shortPath(options.config)}`;
    const remark = `${describeHeld(held, folder)} See it and allow it with: cem trust${named}`;
    io.stderr.write(`${safeText(remark)}\n`);
    return;
  }
  live.write(`${renderAsked(safeData({ folder, held }), live.style).join("\n")}\n`);
  if (await askYesNo("Trust this folder?", context)) await trustItems(folder, requested);
}
