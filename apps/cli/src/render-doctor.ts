import type { Check, CheckState } from "./doctor-checks.ts";
import { LABEL_COLUMNS, renderPairs, renderRow } from "./render-rows.ts";
import { oneLine } from "./safe-text.ts";
import { wrapIndented } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

/** One setting as `cem doctor --config` lists it. */
export interface ListedSetting {
  path: string;
  /** Plain data; secrets are masked. `null` when unset. */
  value: unknown;
  origin: string;
  /** Why it has no effect yet. */
  pending?: string | undefined;
}

/** Renders each check on a row, with its notes below it. */
export function renderChecks(checks: readonly Check[], style: Style): string[] {
  const { colors } = style;
  const paint: Record<CheckState, (text: string) => string> = {
    ok: String,
    off: colors.dim,
    warning: colors.yellow,
    broken: colors.red,
  };
  const labelColumns = Math.max(LABEL_COLUMNS, ...checks.map(({ name }) => name.length));
  const indent = " ".repeat(labelColumns + 4);
  const rows = checks.flatMap(({ name, state, summary, notes }) => [
    ...renderRow(name, oneLine(summary), style, { labelColumns, paint: paint[state], right: state }),
    ...notes.flatMap((note) => wrapIndented(note, indent, style.width).map((line) => colors.dim(line))),
  ]);
  return ["", ...rows];
}

/** Renders each setting with its value and where that comes from. */
export function renderSettings(settings: readonly ListedSetting[], style: Style): string[] {
  const pairs = settings.map(({ path, value, origin, pending }): [string, string] => {
    const text =
      value === null ? "unset" : typeof value === "string" ? oneLine(value) : JSON.stringify(value);
    return [path, `${text}  (${origin}${pending === undefined ? "" : ", no effect yet"})`];
  });
  return ["", ...renderPairs(pairs, "  ", style)];
}
