import type { HeldItem, TrustItem, TrustKind } from "@cem/config";
import { renderRow } from "./render-rows.ts";
import { oneLine } from "./safe-text.ts";
import { shortPath } from "./short-path.ts";
import { cut } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

/** A command can be long, and what is at its end counts too. */
const MAX_TEXT_COLUMNS = 2_000;
const MAX_FILES = 12;

const KINDS: Readonly<Record<TrustKind, string>> = {
  server: "starts or calls the MCP server",
  "host-tool": "runs on this host, outside of the sandbox",
  mount: "shows code in the sandbox",
  path: "uses a place outside of the folder",
  key: "sends",
};

/** Renders what a folder asks for, each with what it was when it was trusted. */
export function renderTrustItems(items: readonly (TrustItem | HeldItem)[], style: Style): string[] {
  return items.flatMap((item) => {
    const { kind, files } = item;
    const before = "before" in item ? item.before : undefined;
    const shown = files.slice(0, MAX_FILES).map((file) => oneLine(file));
    const rest = files.length - shown.length;
    const more = rest > 0 ? ` and ${rest} more` : "";
    return [
      ...renderRow(before === undefined ? "" : "changed", `${KINDS[kind]} ${textOf(item)}`, style),
      ...(before !== undefined && textOf(before) !== textOf(item)
        ? renderRow("", style.colors.dim(`was: ${textOf(before)}`), style)
        : []),
      ...(files.length === 0 || kind === "host-tool"
        ? []
        : renderRow("", style.colors.dim(`as these files are now: ${shown.join(", ")}${more}`), style)),
    ];
  });
}

function textOf({ kind, name, text }: TrustItem): string {
  const said = cut(oneLine(text), MAX_TEXT_COLUMNS);
  if (kind === "key") return said;
  if (kind === "host-tool") return `${oneLine(name)}  ${oneLine(shortPath(text.replace(/^[^:]*: /u, "")))}`;
  return `${oneLine(name)}  ${said}`;
}
