import { CemError } from "@cem/core";
import type { JsonObject, JsonValue } from "@cem/core";
import type { WorkflowResult } from "code-execution-mcp";
import type { Answer, CommandContext } from "../io/command-context.ts";
import { configSourceOf } from "../run/config-source.ts";
import { EXIT_FAILED, EXIT_OK, withHint } from "../errors.ts";
import { renderRow } from "../render/rows.ts";
import {
  renderDrawing,
  renderRun,
  renderRunDetails,
  renderRunFailure,
  renderWorkflows,
  showSteps,
} from "./workflow-report.ts";
import { oneLine, safeJson, safeText } from "../render/text.ts";
import { withWorkflows } from "../run/agent-source.ts";
import { InvalidArgumentError, Option } from "commander";
import { addOptions, defineCommand } from "../command/define-command.ts";
import type { Given } from "../command/define-command.ts";
import { CODE_SETTINGS, settingOptions, actionArgument } from "../command/options.ts";

const ACTIONS = ["run", "validate", "list", "show", "resume", "cancel", "graph"] as const;
type Action = (typeof ACTIONS)[number];

/** Arguments. */
interface Workflow {
  action: Action;
  /** A workflow's name or file, or a run. */
  target?: string | undefined;
  /** Values of variables. */
  variables: JsonObject;
  /** Steps that may have been executed, to repeat. */
  repeat: string[];
  /** Steps that may have been executed, and were. */
  done: JsonObject;
}

/** `cem workflow`: runs, checks, lists, shows, resumes, ends and draws workflows. */
export const workflow = defineCommand<Workflow>({
  name: "workflow",
  group: "runs",
  about: "Run, check, resume and draw workflows",
  help: `
A workflow is named by its name in the configuration or by the path of its file. Its runs are kept in the workspace, and
one that was ended goes on where it stood. A step that may have been executed is not repeated unless it is marked
idempotent, or you say so.

Examples:
  cem workflow run report.yaml --var city=Oslo --var 'days=[1,2]'
  cem workflow validate report.yaml
  cem workflow list                           workflows and runs
  cem workflow show report-1f0c2a9b3d
  cem workflow resume report-1f0c2a9b3d --done send
  cem workflow graph report.yaml`,
  declare: (command) =>
    addOptions(command, settingOptions(CODE_SETTINGS))
      .addArgument(actionArgument(ACTIONS, "list"))
      .argument("[target]", "the workflow's name or file; the run")
      .addOption(
        new Option("--var <name=value>", "a variable; its value is read as JSON where it is some")
          .argParser(variable)
          .default({}, "none"),
      )
      .addOption(
        new Option("--repeat <step>", "for resume: do this step again").argParser(more).default([], "none"),
      )
      .addOption(
        new Option("--done <step[=value]>", "for resume: this step was done, and came to this value")
          .argParser(doneStep)
          .default({}, "none"),
      ),
  read: (command, named) => ({
    ...named,
    variables: command.opts<{ var: JsonObject }>().var,
  }),
  run: manageWorkflows,
});

function more(value: string, before: string[]): string[] {
  return [...before, value];
}

function variable(written: string, before: JsonObject): JsonObject {
  const equals = written.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("It is a name, = and a value, such as city=Oslo.");
  const entry: [string, JsonValue] = [written.slice(0, equals), valueOf(written.slice(equals + 1))];
  return Object.fromEntries([...Object.entries(before), entry]);
}

function doneStep(written: string, before: JsonObject): JsonObject {
  return written.includes("=") ? variable(written, before) : { ...before, [written]: null };
}

function valueOf(written: string): JsonValue {
  try {
    return JSON.parse(written) as JsonValue;
  } catch {
    return written;
  }
}

/** The target that each action takes. */
const WANTED: Record<Exclude<Action, "list">, string> = {
  run: "a workflow's name or file",
  validate: "a workflow's name or file",
  graph: "a workflow's name or file",
  show: "a run",
  resume: "a run",
  cancel: "a run",
};

async function manageWorkflows(given: Given<Workflow>, context: CommandContext): Promise<Answer> {
  const { action } = given;
  if (action === "list") return list(given, context);
  const target = requireTarget(action, given.target);
  switch (action) {
    case "run":
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
  }
}

async function run(target: string, given: Given<Workflow>, context: CommandContext): Promise<Answer> {
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
    exitCode: result.status === "success" ? EXIT_OK : EXIT_FAILED,
    data: result,
    report: (style) => renderRun(result, style),
    brief: () => (result.status === "success" ? safeJson(result.outputs, 2) : ""),
    complaint: (style) => renderRunFailure(result, style),
  };
}

async function validate(
  target: string,
  { options }: Given<Workflow>,
  context: CommandContext,
): Promise<Answer> {
  const { workflow, parts } = await withWorkflows(options, context, (workflows) =>
    workflows.validate(target),
  );
  const { name, version, steps } = workflow;
  return {
    exitCode: EXIT_OK,
    data: { status: "success", name, version, steps: steps.length, parts: [...parts.keys()] },
    report: (style) => ["", ...renderRow("valid", oneLine(safeText(`${name} ${version}`)), style)],
    brief: () => safeText(name),
  };
}

async function graph(target: string, { options }: Given<Workflow>, context: CommandContext): Promise<Answer> {
  const { drawWorkflow } = await import("code-execution-mcp/admin");
  const { workflow } = await withWorkflows(options, context, (workflows) => workflows.load(target));
  const steps = await drawWorkflow(workflow);
  return {
    exitCode: EXIT_OK,
    data: { status: "success", name: workflow.name, steps },
    report: (style) => renderDrawing(steps, style),
    brief: () => steps.map(({ text, detail }) => safeText(`${text} ${detail}`).trim()).join("\n"),
  };
}

async function list({ options }: Given<Workflow>, context: CommandContext): Promise<Answer> {
  const { listWorkflows } = await import("code-execution-mcp/admin");
  const workflows = await listWorkflows(configSourceOf(options));
  const runs = await withWorkflows(options, context, (opened) => opened.list());
  return {
    exitCode: EXIT_OK,
    data: { status: "success", workflows, runs },
    report: (style) => renderWorkflows(workflows, runs, style),
    brief: () => runs.map(({ run: id, status }) => `${id} ${status}`).join("\n"),
  };
}

async function show(target: string, { options }: Given<Workflow>, context: CommandContext): Promise<Answer> {
  const details = await withWorkflows(options, context, (workflows) => workflows.show(target));
  return {
    exitCode: EXIT_OK,
    data: details,
    report: (style) => renderRunDetails(details, style),
    brief: () => details.status,
  };
}

async function cancel(
  target: string,
  { options }: Given<Workflow>,
  context: CommandContext,
): Promise<Answer> {
  const status = await withWorkflows(options, context, (workflows) => workflows.cancel(target));
  const said = status === "running" ? "asked to end" : status;
  return {
    exitCode: EXIT_OK,
    data: { status: "success", run: target, state: status },
    report: (style) => ["", ...renderRow(said, safeText(target), style)],
    brief: () => status,
  };
}

/** @throws CemError `USAGE` */
function requireTarget(action: keyof typeof WANTED, target: string | undefined): string {
  if (target !== undefined) return target;
  throw new CemError("USAGE", `cem workflow ${action} needs ${WANTED[action]}. See: cem workflow --help`);
}
