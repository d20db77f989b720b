import type { JsonObject, JsonValue } from "@cem/core";
import { Argument, InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import { addSettingOptions } from "./command-options.ts";
import { WORKFLOW } from "./help-examples.ts";
import { WORKFLOW_ACTIONS } from "./invocation.ts";
import type { WorkflowAction, WorkflowOptions } from "./invocation.ts";

type Found = WorkflowOptions & { command: "workflow" };

interface OwnOptions {
  var: JsonObject;
  repeat: string[];
  done: JsonObject;
  mermaid: boolean;
}

/** Adds `cem workflow` to the program. */
export function addWorkflowCommand(
  add: (usage: string, description: string, example: string) => Command,
  found: (invocation: Found, command: Command) => void,
): void {
  addSettingOptions(add("workflow", "Run, check, resume and draw workflows", WORKFLOW))
    .addArgument(new Argument("[action]", "what to do").choices(WORKFLOW_ACTIONS).default("list"))
    .argument("[target]", "the workflow's name or file; the run; for from-run the session")
    .argument("[task]", "for from-run: the task, such as task_002")
    .addOption(
      new Option("--var <name=value>", "a variable; its value is read as JSON where it is some")
        .argParser(variable)
        .default({}, "none"),
    )
    .option("--dry-run", "for run: say what would be called, and call nothing", false)
    .addOption(
      new Option("--repeat <step>", "for resume: do this step again").argParser(more).default([], "none"),
    )
    .addOption(
      new Option("--done <step[=value]>", "for resume: this step was done, and came to this value")
        .argParser(doneStep)
        .default({}, "none"),
    )
    .option("--mermaid", "for graph: print a flow chart of Mermaid", false)
    .action(
      (
        action: WorkflowAction,
        target: string | undefined,
        task: string | undefined,
        { var: variables, repeat, done, mermaid }: OwnOptions,
        command: Command,
      ) => found({ command: "workflow", action, target, task, variables, repeat, done, mermaid }, command),
    );
}

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
