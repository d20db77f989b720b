import { runPluginCommand as run } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import { approveOf } from "../approve-in-terminal.ts";
import type { CommandContext } from "../command-context.ts";
import { serverSourceOf } from "../config-source.ts";
import { elicitOf } from "../elicit-in-terminal.ts";
import { EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";
import { createTurns } from "../prompt.ts";
import { renderValue } from "../render-value.ts";
import { safeText } from "../safe-text.ts";
import { settleTrust } from "../settle-trust.ts";

/**
 * `cem <name>`: a command that a plugin adds.
 *
 * @throws CemError `USAGE` where no plugin has it, with what was perhaps meant.
 */
export async function runPluginCommand(
  { name, words, usage, options }: InvocationOf<"plugin-command">,
  context: CommandContext,
): Promise<Answer> {
  const { loadConfig } = await import("code-execution-mcp");
  const { signal: _signal, ...source } = serverSourceOf(options, context);
  const { configFile: file, config: overrides, trustFolder } = source;
  const { plugins } = await loadConfig({ file, overrides, trustFolder }).catch(() => ({ plugins: [] }));
  if (plugins.length === 0) throw usage;
  await settleTrust(options, context);
  const turns = createTurns();
  const asked = { onElicit: elicitOf(context, turns), onApprove: approveOf(context, turns) };
  const answer = await run({ ...source, ...asked, name, words, signal: context.signal });
  if (answer === undefined) throw usage;
  const { value } = answer;
  const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
  return {
    exitCode: EXIT_OK,
    data: { status: "success", value: value ?? null },
    report: (style) => {
      if (value === undefined) return [];
      return typeof value === "string" ? safeText(value).split("\n") : renderValue(value, style);
    },
    brief: (forTerminal) => (forTerminal ? safeText(text) : text),
  };
}
