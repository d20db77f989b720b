import type { TaskResult } from "@cem/core";
import type { Answer } from "./answer.ts";
import { exitCodeOfTask } from "./exit-codes.ts";
import { renderBrief, renderFailure, renderResult } from "./render-result.ts";
import type { ResultOptions } from "./render-result.ts";

/** What a task or program came to, as the answer of its command. */
export async function answerToResult(given: TaskResult, options: ResultOptions): Promise<Answer> {
  const result = await withHelp(given);
  return {
    exitCode: exitCodeOfTask(result.status),
    data: result,
    report: (style) => renderResult(result, style, options),
    brief: (forTerminal) => renderBrief(result, forTerminal),
    complaint: (style) => renderFailure(result, style, options),
  };
}

/** The result with what helps against its error. */
async function withHelp(result: TaskResult): Promise<TaskResult> {
  if (result.error === null) return result;
  const { withHint } = await import("./hint.ts");
  return { ...result, error: withHint(result.error) };
}
