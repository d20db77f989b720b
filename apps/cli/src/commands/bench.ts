import { writeFile } from "node:fs/promises";
import { CemError } from "@cem/core";
import { measurePooling, PROGRAMS, ratioOf } from "../bench/measure-pooling.ts";
import type { BenchProgram, PoolingReport, PoolingResult } from "../bench/measure-pooling.ts";
import { EXIT_OK } from "../errors.ts";
import type { Answer, CommandContext } from "../io/command-context.ts";
import { alignColumns, padEnd } from "../render/text.ts";
import type { Style } from "../render/text.ts";
import { Argument } from "commander";
import { defineCommand } from "../command/define-command.ts";
import type { Given } from "../command/define-command.ts";
import { wholeNumber } from "../command/options.ts";

const MAX_ROUNDS = 1_000;

/** Arguments. */
interface Bench {
  /** Ids of programs, in the order they run. */
  sequence?: string[] | undefined;
  /** Id of the only program. */
  example?: string | undefined;
  all: boolean;
  /** How many times the programs run. */
  count: number;
  /** File for a plot. */
  svg?: string | undefined;
}

/** `cem bench pooling`: measures what a pool of guests and sessions gain on this host. */
export const bench = defineCommand<Bench>({
  name: "bench",
  group: "more",
  about: "Measure this host",
  help: `
Examples:
  cem bench pooling                           first and later runs, with and without a pool
  cem bench pooling --sequence 01,03,01,07    these programs in this order
  cem bench pooling --example 01 -n 5 --svg pooling.svg`,
  declare: (command) =>
    command
      .addArgument(new Argument("<what>", "what to measure").choices(["pooling"]))
      .option("--sequence <ids>", "programs in this order, such as 01,03,01", (text: string) =>
        text.split(","),
      )
      .option("--example <id>", "one program")
      .option("--all", "every program", false)
      .option("-n, --count <count>", "how many times", wholeNumber(1, MAX_ROUNDS), 5)
      .option("--svg <file>", "write a plot to this file"),
  run: benchPooling,
});

const DEFAULT_PROGRAM = "02";

async function benchPooling(
  { sequence, example, all, count, svg, options }: Given<Bench>,
  { signal, live }: CommandContext,
): Promise<Answer> {
  const ids = all ? PROGRAMS.map(({ id }) => id) : (sequence ?? [example ?? DEFAULT_PROGRAM]);
  const round = ids.map(findProgram);
  const programs = Array.from({ length: count }, () => round).flat();
  const report = await measurePooling(programs, {
    signal,
    onRun: (text) => {
      if (options.verbose) live?.write(`  ${text}\n`);
    },
  });
  if (svg !== undefined) await writeSvg(svg, poolingSvg(report));
  const { results } = report;
  const ratios = results.map((result) => ({ ...result, ratio: ratioOf(result, results) }));
  return {
    exitCode: EXIT_OK,
    data: { status: "success", results: ratios, absent: report.absent },
    report: (style) => renderPooling(report, style),
    brief: () =>
      ratios.map(({ sandbox, mode, ratio }) => `${sandbox}, ${mode}: ${ratio.toFixed(1)}`).join("\n"),
  };
}

function findProgram(id: string): BenchProgram {
  const found = PROGRAMS.find((program) => program.id === id);
  if (found !== undefined) return found;
  const known = PROGRAMS.map((program) => `${program.id} (${program.title})`).join(", ");
  throw new CemError("USAGE", `There is no program ${id}. There are: ${known}.`);
}

async function writeSvg(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CemError("NOT_WRITABLE", `The plot can't be written to ${file}: ${why}`, { cause: error });
  }
}

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

const WIDTH = 720;
const HEIGHT = 360;
const MARGIN = { left: 64, right: 200, top: 24, bottom: 40 };
const COLOURS = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#a463f2"];

const escapeXml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** A plot of every run's time, on a scale of powers of ten. */
export function poolingSvg({ results }: PoolingReport): string {
  const times = results.flatMap(({ runs }) => runs.map(({ ms }) => Math.log10(Math.max(ms, 0.1))));
  const [low, high] = [Math.floor(Math.min(...times)), Math.ceil(Math.max(...times))];
  const most = Math.max(...results.map(({ runs }) => runs.length));
  const x = (index: number) =>
    MARGIN.left + (index / Math.max(1, most - 1)) * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (ms: number) => {
    const part = (Math.log10(Math.max(ms, 0.1)) - low) / Math.max(1, high - low);
    return HEIGHT - MARGIN.bottom - part * (HEIGHT - MARGIN.top - MARGIN.bottom);
  };
  const grid = Array.from({ length: high - low + 1 }, (_, step) => 10 ** (low + step)).map(
    (ms) =>
      `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y(ms)}" y2="${y(ms)}" stroke="#ddd"/><text x="${MARGIN.left - 8}" y="${y(ms) + 4}" text-anchor="end">${ms} ms</text>`,
  );
  const line = (result: PoolingResult, index: number) => {
    const colour = COLOURS[index % COLOURS.length];
    const points = result.runs.map(({ ms }, run) => `${x(run).toFixed(1)},${y(ms).toFixed(1)}`).join(" ");
    const name = escapeXml(`${result.sandbox}, ${result.mode}`);
    const at = MARGIN.top + 16 + index * 20;
    return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"/><text x="${WIDTH - MARGIN.right + 16}" y="${at}" fill="${colour}">${name}</text>`;
  };
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>
${[...grid, ...results.map(line)].join("\n")}
<text x="${MARGIN.left}" y="${HEIGHT - 12}">runs, one after another</text>
</svg>
`;
}
