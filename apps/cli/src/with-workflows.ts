import type { OwnWorkflows } from "code-execution-mcp";
import { approveOf } from "./approve-in-terminal.ts";
import type { CommandContext } from "./command-context.ts";
import type { SharedOptions } from "./command-options.ts";
import { serverSourceOf } from "./config-source.ts";
import { elicitOf } from "./elicit-in-terminal.ts";
import { createTurns } from "./prompt.ts";
import { settleTrust } from "./settle-trust.ts";

/**
 * Gives work what carries out workflows, and frees everything when the work is done or has failed.
 *
 * @param isDry - Whether nothing may be written, caches included.
 */
export async function withWorkflows<T>(
  options: SharedOptions,
  context: CommandContext,
  work: (workflows: OwnWorkflows) => Promise<T>,
  isDry = false,
): Promise<T> {
  await settleTrust(options, context);
  const { openWorkflows } = await import("code-execution-mcp");
  const { signal: _signal, ...source } = serverSourceOf(options, context);
  const turns = createTurns();
  const workflows = await openWorkflows({
    ...source,
    ...(isDry && { config: { ...source.config, optimizations: { toolCache: false } } }),
    onElicit: elicitOf(context, turns),
    onApprove: approveOf(context, turns),
  });
  try {
    return await work(workflows);
  } finally {
    await workflows.dispose();
  }
}
