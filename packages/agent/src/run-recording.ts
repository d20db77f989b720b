import { toErrorInfo } from "@cem/core";
import type { EndedRun, ExecuteOptions, TaskResult } from "@cem/core";
import { createRunId } from "./run-audit.ts";
import type { Stages } from "./stages.ts";

/** The options of a request whose run has an id. */
type Identified = ExecuteOptions & { runId: string };

/** Gives a request the id that its run is named by. */
export function withRunId(options: ExecuteOptions): Identified {
  return { ...options, runId: options.runId ?? createRunId() };
}

/** Carries out a run and tells of its end whoever keeps records. */
export async function recorded(
  { settings: { recordRun } }: Stages,
  { runId: id, session, owner, record }: Identified,
  asked: Pick<EndedRun, "kind" | "input">,
  carryOut: () => Promise<TaskResult>,
): Promise<TaskResult> {
  if (recordRun === undefined || record === false) return carryOut();
  const [startedAt, started] = [new Date(), performance.now()];
  const end = (ending: Pick<EndedRun, "result" | "error">): void =>
    recordRun({ id, ...asked, startedAt, ms: performance.now() - started, session, owner, ...ending });
  try {
    const result = await carryOut();
    end({ result });
    return result;
  } catch (error) {
    end({ error: toErrorInfo(error) });
    throw error;
  }
}
