import type { PluginReport } from "code-execution-mcp/admin";
import { renderRow } from "./render-rows.ts";
import { oneLine } from "./safe-text.ts";
import { counted } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

const COMMAND = "command ";
const LABELS: Readonly<Record<PluginReport["state"], string>> = {
  ready: "ready",
  held: "held back",
  failed: "failed",
};

/** Renders plugins, a row each, with what they add and what went wrong below. */
export function renderPlugins(plugins: readonly PluginReport[], style: Style): string[] {
  const { colors } = style;
  const rows = plugins.flatMap(({ name, version = "", source, state, required, adds, times, problems }) => {
    const from = source === name ? "" : `  from ${source}`;
    const title = `${name} ${version}`.trim() + from + (required ? "  (required)" : "");
    const paint = state === "ready" && problems.length === 0 ? colors.green : colors.yellow;
    return [
      ...renderRow(LABELS[state], oneLine(title), style, { right: describeTimes(times), paint }),
      ...(adds.length === 0 ? [] : renderRow("", oneLine(`adds ${adds.join(", ")}`), style)),
      ...adds
        .filter((part) => part.startsWith(COMMAND))
        .flatMap((part) => renderRow("", oneLine(`run it with  cem ${part.slice(COMMAND.length)}`), style)),
      ...problems.flatMap((problem) => renderRow("", oneLine(problem), style).map(colors.yellow)),
    ];
  });
  const size =
    plugins.length === 0
      ? "No plugins. Name some under plugins in config.yaml: plugins: [./my-plugin.ts]"
      : `${counted(plugins.length, "plugin")}.`;
  return ["", ...rows, ...(rows.length === 0 ? [] : [""]), colors.dim(`  ${size}`)];
}

/** `set up in 3 ms, used 12 times for 8 ms`. */
export function describeTimes({ setupMs, uses, useMs }: PluginReport["times"]): string {
  const setup = `set up in ${Math.round(setupMs)} ms`;
  return uses === 0 ? setup : `${setup}, used ${counted(uses, "time")} for ${Math.round(useMs)} ms`;
}
