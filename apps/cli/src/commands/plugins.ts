import type { PluginReport } from "code-execution-mcp/admin";
import type { Answer, CommandContext } from "../io/terminal.ts";
import { renderRow } from "../render/rows.ts";
import { counted, duration, oneLine } from "../render/text.ts";
import type { Style } from "../render/text.ts";
import { actionArgument, serverSourceOf } from "../command/options.ts";
import { settleTrust } from "../run/agent-source.ts";
import { answer, defineCommand } from "../command/define-command.ts";
import type { Given } from "../command/define-command.ts";

/** `cem plugins list`: loads the plugins and says of each what it adds, how long it takes and what went wrong. */
export const plugins = defineCommand({
  name: "plugins",
  group: "more",
  about: "List plugins: what each adds, how it stands",
  help: `
Plugins are named under plugins in config.yaml: a path (./my-plugin.ts), or a package that is installed there. They add
tools, detectors, guards, generators, selectors, sandboxes, steps of workflows, transports and listeners. They run on this
host, so those of a folder need its trust: cem trust.

Examples:
  cem plugins list
  cem plugins list --json`,
  settings: ["config"],
  declare: (command) => command.addArgument(actionArgument(["list"], "list")),
  run: listPlugins,
});

async function listPlugins({ options }: Given, context: CommandContext): Promise<Answer> {
  const { listPlugins: findPlugins } = await import("code-execution-mcp/admin");
  await settleTrust(options, context);
  const plugins = await findPlugins(serverSourceOf(options, context));
  return answer({
    data: { plugins },
    isDone: plugins.every(({ state }) => state !== "error"),
    report: (shown, style) => renderPlugins(shown.plugins, style),
    brief: (shown) => shown.plugins.map(({ name }) => name).join("\n"),
  });
}

const LABELS: Readonly<Record<PluginReport["state"], string>> = {
  ready: "ready",
  held: "held back",
  error: "error",
};

/** Renders plugins, a row each, with what they add and what went wrong below. */
function renderPlugins(plugins: readonly PluginReport[], style: Style): string[] {
  const { colors } = style;
  const rows = plugins.flatMap(({ name, version = "", source, state, required, adds, setupMs, problems }) => {
    const from = source === name ? "" : `  from ${source}`;
    const title = `${name} ${version}`.trim() + from + (required ? "  (required)" : "");
    const paint = state === "ready" && problems.length === 0 ? colors.green : colors.yellow;
    return [
      ...renderRow(LABELS[state], oneLine(title), style, { right: `set up in ${duration(setupMs)}`, paint }),
      ...(adds.length === 0 ? [] : renderRow("", oneLine(`adds ${adds.join(", ")}`), style)),
      ...problems.flatMap((problem) => renderRow("", oneLine(problem), style).map(colors.yellow)),
    ];
  });
  const size =
    plugins.length === 0
      ? "No plugins. Name some under plugins in config.yaml: plugins: [./my-plugin.ts]"
      : `${counted(plugins.length, "plugin")}.`;
  return ["", ...rows, ...(rows.length === 0 ? [] : [""]), colors.dim(`  ${size}`)];
}
