import { writeFile } from "node:fs/promises";
import { CemError } from "@cem/core";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { measurePooling, ratioOf } from "../bench/measure-pooling.ts";
import { poolingSvg } from "../bench/pooling-svg.ts";
import { PROGRAMS } from "../bench/programs.ts";
import type { BenchProgram } from "../bench/programs.ts";
import { renderPooling } from "../bench/render-pooling.ts";
import type { InvocationOf } from "../invocation.ts";
import { EXIT_OK } from "../exit-codes.ts";

const DEFAULT_PROGRAM = "02";

/** `cem bench pooling`: measures what a pool of guests and sessions gain on this host. */
export async function benchPooling(
  { sequence, example, all, count, svg, options }: InvocationOf<"bench">,
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
