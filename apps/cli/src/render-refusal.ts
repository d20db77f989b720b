import { oneLine } from "./safe-text.ts";
import { renderPairs } from "./render-rows.ts";
import type { Style } from "./text-layout.ts";
import { wrap } from "./text-layout.ts";

const MAX_NEAREST = 3;
const INDENT = "  ";

/**
 * Says which steps of a task can't be done, which tools come nearest, and what to do. Both come from an error's
 * details, so they are read with care.
 */
export function renderRefusal(steps: readonly unknown[], nearest: unknown, style: Style): string[] {
  const { colors, width } = style;
  const indented = (text: string): string[] =>
    wrap(text, width - INDENT.length).map((line) => `${INDENT}${line}`);
  const hints = steps.map((step) => oneLine(textOf(step, "hint"))).filter((hint) => hint !== "");
  const missingTool = steps.some((step) => textOf(step, "reason") === "no-tool");
  const near = (Array.isArray(nearest) ? nearest : []).slice(0, MAX_NEAREST).map(nearestText);
  const lines = hints.flatMap(indented).map((line) => colors.yellow(line));
  if (!missingTool) return [...lines, ...indented("Nothing was run.")];
  const nearestLine = near.length > 0 ? `Nearest: ${near.join(", ")}. ` : "";
  const ways: [string, string][] = [
    ["Add a server that can:", "cem add <name> -- npx -y <server>"],
    ["Write a tool that can:", "a file servers/<server>/<tool>.ts; cem init makes an example"],
    ["See what there is:", "cem tools"],
  ];
  return [...lines, ...indented(`${nearestLine}Nothing was run.`), "", ...renderPairs(ways, INDENT, style)];
}

function textOf(data: unknown, key: string): string {
  const value: unknown = typeof data === "object" && data !== null ? Reflect.get(data, key) : undefined;
  return typeof value === "string" ? value : "";
}

function nearestText(entry: unknown): string {
  const score: unknown =
    typeof entry === "object" && entry !== null ? Reflect.get(entry, "score") : undefined;
  const tool = oneLine(textOf(entry, "tool"));
  return typeof score === "number" ? `${tool} (${score.toFixed(2)})` : tool;
}
