import type { Agent, CemError, ExecuteOptions, TaskResult } from "@cem/core";
import { unrunResult } from "../src/protocol.ts";

/** The work of a run. */
export type Work = (input: string, options: ExecuteOptions) => Promise<unknown>;

/** An agent whose runs do what a test says. */
export function agentOf(work: Work): Agent {
  const unused = () => Promise.reject(new Error("unused"));
  const run = async (input: string, options: ExecuteOptions = {}): Promise<TaskResult> => {
    const empty = unrunResult(
      { kind: "code", input, options: {}, asked: [] },
      { code: "ABORTED", message: "", details: {} },
    );
    try {
      return {
        ...empty,
        status: "success",
        error: null,
        value: (await work(input, options)) as TaskResult["value"],
      };
    } catch (error) {
      const { code, message } = error as CemError;
      return { ...empty, error: { code, message, details: {} } };
    }
  };
  return {
    specificationVersion: "v1",
    executeTask: run,
    executeCode: run,
    discoverTools: unused,
    searchTools: unused,
    saveSkill: unused,
    checkpoint: unused,
    warm: unused,
    dispose: async () => {},
  };
}
