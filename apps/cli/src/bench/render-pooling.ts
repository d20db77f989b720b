import { ratioOf } from "./measure-pooling.ts";
import type { PoolingReport, PoolingResult } from "./measure-pooling.ts";
import { padEnd, padStart } from "../text-layout.ts";
import type { Style } from "../text-layout.ts";

const COLUMNS = [14, 14, 12, 12, 8] as const;
const LONGEST_BAR = 30;
const FIRST_COLUMNS = 2;

const milliseconds = (ms: number | undefined): string => (ms === undefined ? "" : `${ms.toFixed(1)} ms`);

function row(cells: readonly string[]): string {
  const placed = COLUMNS.map((width, index) => {
    const cell = cells[index] ?? "";
    return index < FIRST_COLUMNS ? padEnd(cell, width) : padStart(cell, width);
  });
  return `  ${placed.join("").trimEnd()}`;
}

/** A bar as long as a run takes, beside the longest of all. */
function bar(result: PoolingResult, longest: number): string {
  const length = ((result.laterMs ?? result.firstMs) / longest) * LONGEST_BAR;
  return "█".repeat(Math.max(1, Math.round(length)));
}

/** A table of first and later runs, and a chart of the later ones. */
export function renderPooling({ results, absent }: PoolingReport, { colors }: Style): string[] {
  const longest = Math.max(...results.map(({ laterMs, firstMs }) => laterMs ?? firstMs));
  const table = results.map((result) => {
    const { sandbox, mode, firstMs, laterMs } = result;
    const ratio = `${ratioOf(result, results).toFixed(1)}×`;
    return row([sandbox, mode, milliseconds(firstMs), milliseconds(laterMs), ratio]);
  });
  const chart = results.map(
    (result) => `  ${padEnd(`${result.sandbox}, ${result.mode}`, 28)}${colors.cyan(bar(result, longest))}`,
  );
  const missing = absent.map(({ sandbox, reason }) =>
    colors.dim(`  ${sandbox} can't be had here: ${reason}`),
  );
  return [
    "",
    colors.dim(row(["sandbox", "guests", "first", "later", "ratio"])),
    ...table,
    "",
    ...chart,
    ...(missing.length > 0 ? ["", ...missing] : []),
    "",
    colors.dim("  later: the median after the first run. Compare within one run only."),
  ];
}
