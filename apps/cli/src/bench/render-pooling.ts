import { ratioOf } from "./measure-pooling.ts";
import type { PoolingReport, PoolingResult } from "./measure-pooling.ts";
import { alignColumns, padEnd } from "../text-layout.ts";
import type { Style } from "../text-layout.ts";

const LONGEST_BAR = 30;
const TEXT_COLUMNS = 2;

const milliseconds = (ms: number | undefined): string => (ms === undefined ? "" : `${ms.toFixed(1)} ms`);

/** A bar whose length stands for the time of a run, relative to the longest. */
function bar(result: PoolingResult, longest: number): string {
  const length = ((result.laterMs ?? result.firstMs) / longest) * LONGEST_BAR;
  return "█".repeat(Math.max(1, Math.round(length)));
}

/** Renders a table of first and later runs, and a chart of the later ones. */
export function renderPooling({ results, absent }: PoolingReport, { colors }: Style): string[] {
  const longest = Math.max(...results.map(({ laterMs, firstMs }) => laterMs ?? firstMs));
  const table = results.map((result) => {
    const { sandbox, mode, firstMs, laterMs } = result;
    const ratio = `${ratioOf(result, results).toFixed(1)}×`;
    return [sandbox, mode, milliseconds(firstMs), milliseconds(laterMs), ratio];
  });
  const [heading = "", ...lines] = alignColumns(
    [["sandbox", "guests", "first", "later", "ratio"], ...table],
    (column) => column >= TEXT_COLUMNS,
  ).map((line) => `  ${line}`);
  const chart = results.map(
    (result) => `  ${padEnd(`${result.sandbox}, ${result.mode}`, 28)}${colors.cyan(bar(result, longest))}`,
  );
  const missing = absent.map(({ sandbox, reason }) =>
    colors.dim(`  ${sandbox} can't be had here: ${reason}`),
  );
  return [
    "",
    colors.dim(heading),
    ...lines,
    "",
    ...chart,
    ...(missing.length > 0 ? ["", ...missing] : []),
    "",
    colors.dim("  later: the median after the first run. Compare within one run only."),
  ];
}
