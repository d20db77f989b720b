import { CemError } from "@cem/core";
import type { CatalogSnapshot } from "@cem/core";
import { codeProgram, findTool } from "../steps/call-code.ts";
import type { ToolNames } from "../steps/call-code.ts";
import type { Problems } from "./parse-workflow.ts";
import type { Workflow, WorkflowStep } from "./workflow.ts";

const NOT_FOUND = new Set(["SERVER_NOT_FOUND", "TOOL_NOT_FOUND"]);

/** Adds the tools of steps that no server has, and code that can't be parsed, to the problems of a workflow. */
export async function checkCalls(
  { steps }: Workflow,
  problems: Problems,
  { catalog, toolNames }: { catalog: CatalogSnapshot; toolNames: ToolNames },
): Promise<void> {
  const { parseProgram } = await import("@cem/program");
  const check = ({ type, path, config, bodies }: WorkflowStep): void => {
    if (type === "tool_call") checkTool(config, [...path, "config", "tool"]);
    if (type === "code_execution") {
      const parsed = parseProgram(codeProgram(config["code"] as string, {}));
      if (!parsed.ok) {
        const { line, message } = parsed.error;
        const place = line === undefined ? "" : ` in its line ${line}`;
        problems.add([...path, "config", "code"], `can't be parsed${place}: ${message}`);
      }
    }
    for (const body of bodies) body.steps.forEach(check);
  };
  const checkTool = ({ server, tool }: WorkflowStep["config"], path: WorkflowStep["path"]): void => {
    // The value of an expression is known when the step runs.
    if (JSON.stringify([server, tool]).includes("${{")) return;
    try {
      findTool({ server: server as string | undefined, tool: tool as string }, catalog, toolNames);
    } catch (error) {
      if (!CemError.isInstance(error) || !NOT_FOUND.has(error.code)) throw error;
      problems.add(path, `is not there: ${error.message}`);
    }
  };
  steps.forEach(check);
}
