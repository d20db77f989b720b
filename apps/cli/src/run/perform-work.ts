import type { Agent, ExecuteOptions, TaskResult } from "@cem/core";
import { callProgram } from "./call-program.ts";

/** The work of a command: a task, code or one call. */
export type Work =
  | { kind: "task"; task: string; resume?: string | undefined }
  | { kind: "code"; code: string }
  | { kind: "call"; target: string; args: readonly string[] };

/**
 * Has an agent do it.
 *
 * @throws CemError `USAGE`, `SERVER_NOT_FOUND` or `TOOL_NOT_FOUND` for a call that can't be made.
 */
export async function performWork(agent: Agent, work: Work, options: ExecuteOptions): Promise<TaskResult> {
  switch (work.kind) {
    case "task":
      return agent.executeTask(work.task, options);
    case "code":
      return agent.executeCode(work.code, options);
    case "call": {
      const catalog = await agent.discoverTools({ signal: options.signal });
      return agent.executeCode(callProgram(work.target, work.args, catalog), options);
    }
  }
}
