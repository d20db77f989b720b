import { CemError } from "@cem/core";
import type { RunRecord } from "@cem/core";
import { listRuns, readRun, recordingOfRun } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { serverSourceOf } from "../config-source.ts";
import { executeOptions } from "../execute-options.ts";
import { EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";
import { renderReplay, renderRun, renderRuns } from "../render-runs.ts";
import { answerToResult } from "../result-answer.ts";
import { safeData } from "../safe-text.ts";
import { withAgent } from "../with-agent.ts";

type Runs = InvocationOf<"runs">;

/** `cem runs`: lists recorded runs, shows one, or runs its code again. */
export async function manageRuns(invocation: Runs, context: CommandContext): Promise<Answer> {
  const { action, id, status, since, text, max, options } = invocation;
  const source = serverSourceOf(options, context);
  if (action === "list") {
    const runs = safeData(await listRuns({ status, since, text, limit: max }, source));
    const isFiltered = status !== undefined || since !== undefined || text !== undefined;
    return {
      exitCode: EXIT_OK,
      data: { status: "success", runs },
      report: (style) => renderRuns(runs, style, isFiltered),
      brief: () => runs.map((run) => run.id).join("\n"),
    };
  }
  if (id === undefined) throw new CemError("USAGE", `cem runs ${action} needs a run. See: cem runs --help`);
  const run = await readRun(id, source);
  if (action === "replay") return replay(run, invocation, context);
  const safe = safeData(run);
  return {
    exitCode: EXIT_OK,
    data: { status: "success", run },
    report: (style) => renderRun(safe, style, options.verbose),
    brief: () => safe.code,
  };
}

/** Says what will happen, then runs the code again. */
async function replay(run: RunRecord, { recorded, options }: Runs, context: CommandContext): Promise<Answer> {
  if (run.code === "" || !run.codeIsWhole) {
    const why = run.code === "" ? "has no code" : "has more code than is recorded";
    throw new CemError("RECORDING_INVALID", `${run.id} ${why}, so it can't be run again.`, {
      details: { run: run.id },
    });
  }
  const { recording, missing } = recordingOfRun(run);
  const about = { run, answered: recorded ? recording.calls.length : undefined, missing };
  if (!options.quiet) context.io.stderr.write(`${renderReplay(about).join("\n")}\n`);
  return withAgent(
    options,
    context,
    async (agent) =>
      answerToResult(await agent.executeCode(run.code, executeOptions(context, options)), options),
    recorded ? { replay: recording } : {},
  );
}
