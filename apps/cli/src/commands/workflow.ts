import { CemError } from "@cem/core";
import type { WorkflowResult } from "code-execution-mcp";
import { drawWorkflow, listWorkflows, workflowFromSession } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { configSourceOf } from "../config-source.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { withHint } from "../hint.ts";
import type { InvocationOf, WorkflowAction } from "../invocation.ts";
import { renderRow } from "../render-rows.ts";
import {
  renderDrawing,
  renderPlan,
  renderRun,
  renderRunDetails,
  renderRunFailure,
  renderWorkflows,
  showSteps,
} from "../render-workflows.ts";
import { oneLine, safeJson, safeText } from "../safe-text.ts";
import { withWorkflows } from "../with-workflows.ts";

type Given = InvocationOf<"workflow">;

/** What an action takes in place of its target. */
const WANTED: Record<Exclude<WorkflowAction, "list">, string> = {
  run: "a workflow's name or file",
  validate: "a workflow's name or file",
  graph: "a workflow's name or file",
  show: "a run",
  resume: "a run",
  cancel: "a run",
  "from-run": "a session, such as session_001 or last",
};

/** `cem workflow`: runs, checks, lists, shows, resumes, ends and draws workflows, or makes one of a logged task. */
export async function manageWorkflows(given: Given, context: CommandContext): Promise<Answer> {
  const { action, options } = given;
  if (action === "list") return list(given, context);
  const target = requireTarget(action, given.target);
  switch (action) {
    case "run":
      return options.dryRun === true ? plan(target, given, context) : run(target, given, context);
    case "resume":
      return run(target, given, context);
    case "validate":
      return validate(target, given, context);
    case "graph":
      return graph(target, given, context);
    case "show":
      return show(target, given, context);
    case "cancel":
      return cancel(target, given, context);
    case "from-run":
      return fromRun(target, given);
  }
}

async function run(target: string, given: Given, context: CommandContext): Promise<Answer> {
  const { action, options, variables, repeat, done } = given;
  const { live, signal } = context;
  const onEvent = live && showSteps(live, options.verbose);
  const isGiven = Object.keys(variables).length > 0;
  const result = await withWorkflows(options, context, (workflows) =>
    action === "resume"
      ? workflows.resume(target, {
          variables: isGiven ? variables : undefined,
          repeat,
          done,
          signal,
          onEvent,
        })
      : workflows.run(target, { variables, signal, onEvent }),
  );
  return answerToRun(result);
}

function answerToRun(given: WorkflowResult): Answer {
  const result = given.error === null ? given : { ...given, error: withHint(given.error) };
  return {
    exitCode: result.status === "completed" ? EXIT_OK : EXIT_FAILED,
    data: result,
    report: (style) => renderRun(result, style),
    brief: () => (result.status === "completed" ? safeJson(result.outputs, 2) : ""),
    complaint: (style) => renderRunFailure(result, style),
  };
}

async function plan(target: string, given: Given, context: CommandContext): Promise<Answer> {
  const { options, variables } = given;
  const steps = await withWorkflows(
    options,
    context,
    (workflows) => workflows.plan(target, { variables }),
    true,
  );
  const isPossible = steps.every(({ problem }) => problem === undefined);
  return {
    exitCode: isPossible ? EXIT_OK : EXIT_FAILED,
    data: { status: isPossible ? "success" : "error", steps },
    report: (style) => renderPlan(steps, style),
    brief: () => steps.map(({ step, does }) => safeText(`${step}: ${does.join(" ")}`)).join("\n"),
  };
}

async function validate(target: string, { options }: Given, context: CommandContext): Promise<Answer> {
  const { workflow, parts } = await withWorkflows(options, context, (workflows) => workflows.load(target));
  const { name, version, steps } = workflow;
  return {
    exitCode: EXIT_OK,
    data: { status: "success", name, version, steps: steps.length, parts: [...parts.keys()] },
    report: (style) => ["", ...renderRow("valid", oneLine(safeText(`${name} ${version}`)), style)],
    brief: () => safeText(name),
  };
}

async function graph(target: string, { options, mermaid }: Given, context: CommandContext): Promise<Answer> {
  const { workflow } = await withWorkflows(options, context, (workflows) => workflows.load(target));
  const drawn = await drawWorkflow(workflow);
  return {
    exitCode: EXIT_OK,
    data: { status: "success", name: workflow.name, ...drawn },
    report: (style) =>
      mermaid ? safeText(drawn.mermaid).trimEnd().split("\n") : renderDrawing(drawn.steps, style),
    brief: () => safeText(drawn.mermaid).trimEnd(),
  };
}

async function list({ options }: Given, context: CommandContext): Promise<Answer> {
  const workflows = await listWorkflows(configSourceOf(options));
  const runs = await withWorkflows(options, context, (opened) => opened.list());
  return {
    exitCode: EXIT_OK,
    data: { status: "success", workflows, runs },
    report: (style) => renderWorkflows(workflows, runs, style),
    brief: () => runs.map(({ run: id, status }) => `${id} ${status}`).join("\n"),
  };
}

async function show(target: string, { options }: Given, context: CommandContext): Promise<Answer> {
  const details = await withWorkflows(options, context, (workflows) => workflows.show(target));
  return {
    exitCode: EXIT_OK,
    data: details,
    report: (style) => renderRunDetails(details, style),
    brief: () => details.status,
  };
}

async function cancel(target: string, { options }: Given, context: CommandContext): Promise<Answer> {
  const status = await withWorkflows(options, context, (workflows) => workflows.cancel(target));
  const said = status === "running" ? "asked to end" : status;
  return {
    exitCode: EXIT_OK,
    data: { status: "success", run: target, state: status },
    report: (style) => ["", ...renderRow(said, safeText(target), style)],
    brief: () => status,
  };
}

async function fromRun(target: string, { options, task }: Given): Promise<Answer> {
  const { workflow, yaml } = await workflowFromSession(target, task, configSourceOf(options));
  return {
    exitCode: EXIT_OK,
    data: { status: "success", workflow },
    // As it is: the output is a file.
    report: () => safeText(yaml).trimEnd().split("\n"),
    brief: () => safeText(yaml).trimEnd(),
  };
}

/** @throws CemError `USAGE` */
function requireTarget(action: keyof typeof WANTED, target: string | undefined): string {
  if (target !== undefined) return target;
  throw new CemError("USAGE", `cem workflow ${action} needs ${WANTED[action]}. See: cem workflow --help`);
}
