import type { Migration } from "code-execution-mcp/admin";
import { renderRow } from "./render-rows.ts";
import { oneLine } from "./safe-text.ts";
import type { Style } from "./text-layout.ts";

/** What `cem migrate` shows. */
interface ShownMigration extends Pick<Migration, "changes" | "works" | "left" | "servers"> {
  files: { file: string; from: string; state: string }[];
  diffs: string[];
  next: string[];
}

/** Renders what a migration makes, what works as it is, and what is left to do. */
export function renderMigration(shown: ShownMigration, style: Style): string[] {
  const { files, changes, works, left, servers, diffs, next } = shown;
  const { colors } = style;
  const rows = (name: string, texts: readonly string[]): string[] =>
    texts.length === 0
      ? []
      : ["", ...texts.flatMap((text, at) => renderRow(at === 0 ? name : "", oneLine(text), style))];
  const inState = (state: string): string[] =>
    files.filter((one) => one.state === state).map(({ file, from }) => `${file}  from ${from}`);
  const calls = servers.map(
    ({ name, tools, isConfigured }) =>
      `${name}: ${tools.join(", ")} only call this MCP server${isConfigured ? ", whose tools are generated" : ", which is not configured"}`,
  );
  return [
    ...diffs.flatMap((diff) => ["", ...diff.split("\n").map((line) => painted(line, colors))]),
    ...rows("works", works),
    ...rows("changed", changes),
    ...rows("servers", calls),
    ...rows("planned", inState("planned")),
    ...rows("made", inState("made")),
    ...rows(
      "kept",
      inState("kept").map((text) => `${text}  (there already)`),
    ),
    ...rows(
      "left",
      left.map(({ place, reason }) => (reason.startsWith(place) ? reason : `${place}  ${reason}`)),
    ),
    ...rows("next", next),
  ];
}

function painted(line: string, colors: Style["colors"]): string {
  if (line.startsWith("+")) return colors.green(line);
  return line.startsWith("-") ? colors.red(line) : line;
}
