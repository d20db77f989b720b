import path from "node:path";
import { readInput, requireWords } from "../io/input.ts";
import { runAgent } from "../run/run-agent.ts";
import { addOptions, defineCommand } from "../command/define-command.ts";
import { ALL_SETTINGS, CODE_SETTINGS, changeOptions } from "../command/options.ts";

const run = defineCommand<{ task: string; resume?: string | undefined }>({
  name: "run",
  group: "start",
  about: "Do a task: find tools, write code, run it",
  help: `
Examples:
  cem run "Calculate 5 + 3 and get weather for San Francisco"
  cem run --quiet "Calculate 5 + 3"           the value alone
  cem run --timeout 10 --json "Calculate 5 + 3"
  cem run --dry-run "Write a report to report.txt"   what it would change
  cem run --resume last "Continue from step 2" told what the last session did
  cat task.txt | cem run -
  cem run -- "-5 + 3"                         a task that begins with "-"`,
  settings: ALL_SETTINGS,
  declare: (command) =>
    addOptions(command, changeOptions())
      .argument("<task...>", 'the task in plain words, or "-" to read it from stdin')
      .option(
        "--resume <session>",
        "go on with a session in sessions/ of the workspace: its number, or last",
      ),
  read: (command, named) => ({ ...named, task: command.args.join(" ") }),
  async run({ task, resume, options }, context) {
    const text = task === "-" ? await readInput("-", "task", context) : task;
    requireWords(text, "task");
    return runAgent({ kind: "task", task: text, resume }, options, context);
  },
});

const exec = defineCommand<{ file: string }>({
  name: "exec",
  group: "start",
  about: "Run TypeScript that you bring",
  help: `
The code imports tools as "./servers/<server>/index.ts", skills as "./skills/<name>/index.ts" and other files
as "./…" of the workspace folder, wherever the file itself is.
Its result is what it returns at the top level, or exports as default.

Examples:
  cem exec report.ts
  echo 'return 6 * 7' | cem exec -
  cem exec --min-isolation namespaces --json report.ts
  cem exec --dry-run --json report.ts > plan.json
  cem exec --plan plan.json report.ts         the calls of that plan and no others`,
  settings: CODE_SETTINGS,
  declare: (command) =>
    addOptions(command, changeOptions()).argument(
      "<file>",
      'a TypeScript file, or "-" to read the code from stdin',
    ),
  async run({ file, options }, context) {
    const code = await readInput(file, "code", context);
    const folder = file === "-" ? undefined : path.dirname(file);
    return runAgent({ kind: "code", code, folder }, options, context);
  },
});

const call = defineCommand<{ target: string; args: string[] }>({
  name: "call",
  group: "tools",
  about: "Call one tool",
  help: `
A value that is valid JSON is read as JSON, unless the parameter takes text: days=3 is a number, name=3 a text.

Examples:
  cem call weather.get_weather location=Oslo
  cem call calculator.add a=5 b=3 --quiet
  cem call crm.update id=7 'tags=["new"]'
  cem call crm.update '{"id":7,"tags":["new"]}'`,
  settings: CODE_SETTINGS,
  declare: (command) =>
    addOptions(command, changeOptions())
      .argument("<server.tool>", "the tool")
      .argument("[arguments...]", "name=value, or one JSON object"),
  read: ({ args: [target = "", ...args] }) => ({ target, args }),
  async run({ target, args, options }, context) {
    return runAgent({ kind: "call", target, args }, options, context);
  },
});

/** The most frequent interactive commands. They are matched before all others are loaded. */
export const RUN_COMMANDS = [run, exec, call];
