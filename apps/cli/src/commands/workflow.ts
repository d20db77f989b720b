import { parseJson, type JsonObject, type JsonValue } from "@cem/core";
import type { OwnWorkflows } from "code-execution-mcp";
import { InvalidArgumentError, Option } from "commander";
import type { Answer, CommandContext } from "../io/terminal.ts";
import { actionArgument, CODE_SETTINGS, configSourceOf } from "../command/options.ts";
import { withHint } from "../errors.ts";
import { renderRow } from "../render/rows.ts";
import {
  renderDrawing,
  renderOutputs,
  renderRunDetails,
  renderRunFailure,
  renderWorkflows,
  showSteps,
} from "./workflow-report.ts";
import { oneLine, safeJson } from "../render/text.ts";
import { withWorkflows } from "../run/agent-source.ts";
import { answer, defineCommand, needed, type Given } from "../command/define-command.ts";

const ACTIONS = ["run", "validate", "list", "show", "resume", "cancel", "graph"] as const;
interface Workflow {
  action: (typeof ACTIONS)[number];
  target?: string | undefined;
  var: JsonObject;
  repeat: string[];
  done: JsonObject;
}

export const workflow = defineCommand<Workflow>({
  name: "workflow",
  group: "runs",
  about: "Run, check, resume and draw workflows",
  help: `
A workflow is named by its name in the configuration or by the path of its file. Its runs are kept in .cem/workflows or
where execution.workflow_runs_dir says, and one that was ended goes on where it stood. A step that may have been executed
is not repeated unless it is marked idempotent, or you say so.

Examples:
  cem workflow run report.yaml --var city=Oslo --var 'days=[1,2]'
  cem workflow validate report.yaml
  cem workflow list                           workflows and runs
  cem workflow show report-1f0c2a9b3d
  cem workflow resume report-1f0c2a9b3d --done send
  cem workflow graph report.yaml`,
  settings: CODE_SETTINGS,
  declare: (command) =>
    command
      .addArgument(actionArgument(ACTIONS, "list"))
      .argument("[target]", "the workflow's name or file; the run")
      .addOption(
        new Option("--var <name=value>", "a variable; its value is read as JSON if it is valid JSON")
          .argParser(variable)
          .default({}, "none"),
      )
      .addOption(
        new Option("--repeat <step>", "for resume: do this step again")
          .argParser((step: string, before: string[]) => [...before, step])
          .default([], "none"),
      )
      .addOption(
        new Option("--done <step[=value]>", "for resume: this step was done, and came to this value")
          .argParser(doneStep)
          .default({}, "none"),
      ),
  async run(given, context) {
    const { action, options, target } = given;
    if (action === "list") return listWorkflows(given, context);
    const isOfRun = action === "show" || action === "resume" || action === "cancel";
    const named = needed(target, `workflow ${action}`, isOfRun ? "a run" : "a workflow's name or file");
    return withWorkflows(options, context, async (workflows) => {
      switch (action) {
        case "run":
        case "resume":
          return run(named, given, context, workflows);
        case "validate": {
          const { workflow, parts } = await workflows.validate(named);
          const { name, version, steps } = workflow;
          return answer({
            data: { name, version, steps: steps.length, parts: [...parts.keys()] },
            report: (valid, style) => [
              "",
              ...renderRow("valid", oneLine(`${valid.name} ${valid.version}`), style),
            ],
            brief: (valid) => valid.name,
          });
        }
        case "graph": {
          const { drawWorkflow } = await import("code-execution-mcp/admin");
          const { workflow } = await workflows.load(named);
          return answer({
            data: { name: workflow.name, steps: await drawWorkflow(workflow) },
            report: ({ steps }, style) => renderDrawing(steps, style),
            brief: ({ steps }) => steps.map(({ text, detail }) => `${text} ${detail}`.trim()).join("\n"),
          });
        }
        case "show":
          return answer({
            data: await workflows.show(named),
            report: renderRunDetails,
            brief: ({ status }) => status,
          });
        case "cancel": {
          const state = await workflows.cancel(named);
          const said = state === "running" ? "cancelling" : state;
          return answer({
            data: { run: named, state },
            report: (ended, style) => ["", ...renderRow(said, ended.run, style)],
            brief: () => state,
          });
        }
      }
    });
  },
});

function variable(written: string, before: JsonObject): JsonObject {
  const equals = written.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("It is a name, = and a value, such as city=Oslo.");
  const [name, text] = [written.slice(0, equals), written.slice(equals + 1)];
  const value = parseJson(text);
  return Object.fromEntries([
    ...Object.entries(before),
    [name, value === undefined ? text : (value as JsonValue)],
  ]);
}

function doneStep(written: string, before: JsonObject): JsonObject {
  return written.includes("=") ? variable(written, before) : { ...before, [written]: null };
}

async function run(
  target: string,
  { action, options, var: variables, repeat, done }: Given<Workflow>,
  { live, signal }: CommandContext,
  workflows: OwnWorkflows,
): Promise<Answer> {
  const watched = { signal, onEvent: live && showSteps(live, options.verbose) };
  const given = Object.keys(variables).length > 0 ? variables : undefined;
  const ended =
    action === "resume"
      ? await workflows.resume(target, { variables: given, repeat, done, ...watched })
      : await workflows.run(target, { variables, ...watched });
  const isDone = ended.status === "success";
  return answer({
    data: ended.error === null ? ended : { ...ended, error: withHint(ended.error) },
    isDone,
    report: ({ outputs }, style) => renderOutputs(outputs, style),
    brief: () => (isDone ? safeJson(ended.outputs, 2) : ""),
    complaint: renderRunFailure,
  });
}

async function listWorkflows({ options }: Given<Workflow>, context: CommandContext): Promise<Answer> {
  const { listWorkflows: listConfigured } = await import("code-execution-mcp/admin");
  const workflows = await listConfigured(configSourceOf(options));
  return answer({
    data: { workflows, runs: await withWorkflows(options, context, (opened) => opened.list()) },
    report: (listed, style) => renderWorkflows(listed.workflows, listed.runs, style),
    brief: ({ runs }) => runs.map(({ run: id, status }) => `${id} ${status}`).join("\n"),
  });
}
