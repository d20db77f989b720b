import { columnsOf, padEnd, withRight, wrap, wrapIndented } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

const INDENT = "  ";
/** Columns of a label, wide enough for the names of the stages. */
export const LABEL_COLUMNS = 9;

/** With less room than this, the second text of a pair goes below the first. */
const MIN_RIGHT_COLUMNS = 20;

/** The indent of a text that stands below the text of a row. */
export const ROW_INDENT = " ".repeat(INDENT.length + LABEL_COLUMNS + 2);

export interface RowOptions {
  /** Text at the right edge, dimmed. */
  right?: string | undefined;
  /** Colours the label. Default: plain. */
  paint?: ((label: string) => string) | undefined;
  /** Columns of the longest label of the block. Default: `LABEL_COLUMNS`, which is also the least. */
  labelColumns?: number | undefined;
}

/** Renders a labelled row, `  select     2 of 14 tools        2 ms`, whose text wraps beside its label. */
export function renderRow(label: string, text: string, style: Style, options: RowOptions = {}): string[] {
  const labelColumns = Math.max(options.labelColumns ?? 0, LABEL_COLUMNS);
  const hanging = " ".repeat(INDENT.length + labelColumns + 2);
  const right = options.right ?? "";
  const room = style.width - hanging.length - (right === "" ? 0 : columnsOf(right) + 3);
  const [first = "", ...rest] = wrap(text, room);
  const painted = (options.paint ?? String)(label) + " ".repeat(Math.max(0, labelColumns - columnsOf(label)));
  const body = right === "" ? first : withRight(first, right, style.width - hanging.length);
  const coloured =
    right === "" ? body : `${body.slice(0, body.length - right.length)}${style.colors.dim(right)}`;
  return [`${INDENT}${painted}  ${coloured}`.trimEnd(), ...rest.map((line) => `${hanging}${line}`.trimEnd())];
}

/**
 * Renders indented rows of two columns, the first as wide as its widest text; the second wraps. Where there is too
 * little room beside the first, the second goes below it.
 */
export function renderPairs(
  pairs: readonly (readonly [string, string])[],
  indent: string,
  { colors, width }: Style,
): string[] {
  const leftColumns = Math.max(0, ...pairs.map(([left]) => columnsOf(left)));
  const hanging = `${indent}${" ".repeat(leftColumns + 2)}`;
  if (width - hanging.length < MIN_RIGHT_COLUMNS) {
    return pairs.flatMap(([left, right]) => [
      `${indent}${left}`,
      ...(right === "" ? [] : wrapIndented(right, `${indent}${INDENT}`, width).map(colors.dim)),
    ]);
  }
  return pairs.flatMap(([left, right]) => {
    const [first = "", ...rest] = wrap(right, width - hanging.length);
    const beside = first === "" ? "" : colors.dim(first);
    return [
      `${indent}${padEnd(left, leftColumns)}  ${beside}`.trimEnd(),
      ...rest.map((line) => `${hanging}${colors.dim(line)}`),
    ];
  });
}
