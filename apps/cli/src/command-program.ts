import { Argument, Command, Help, Option } from "commander";
import packageJson from "../package.json" with { type: "json" };
import {
  addOutputOptions,
  addPlanOptions,
  addRecordingOptions,
  addSettingOptions,
  days,
  DETAILS,
  sharedOptions,
  wholeNumber,
} from "./command-options.ts";
import type { Detail } from "./command-options.ts";
import { addBenchCommand } from "./bench/command-options.ts";
import * as examples from "./help-examples.ts";
import {
  CUSTOMER_ACTIONS,
  EXAMPLE_ACTIONS,
  KEEP_WARM_ACTIONS,
  SESSION_ACTIONS,
  SHELLS,
  SKILL_ACTIONS,
} from "./invocation.ts";
import type {
  CustomerAction,
  ExampleAction,
  Invocation,
  KeepWarmAction,
  SessionAction,
  Shell,
  SkillAction,
} from "./invocation.ts";
import { addFormCommand } from "./form-command.ts";
import { addRunsCommand } from "./runs-command.ts";
import { addServerCommands } from "./server-commands.ts";
import { addServeCommand, addVerifyCommand } from "./serve-command.ts";
import { addQueueCommands } from "./queue-commands.ts";
import { addWorkflowCommand } from "./workflow-command.ts";

export const VERSION: string = packageJson.version;

const MAX_SEARCH_RESULTS = 1_000;
const MAX_IDLE_MINUTES = 1_440;
const MAX_LISTED_SESSIONS = 100_000;

/** Commands that somebody waits for at the shell, again and again: they are described first. */
export const QUICK_COMMANDS: readonly string[] = ["run", "exec", "call"];

/**
 * Describes every command and option.
 *
 * @param found - Called with what a command line asks for, when one is parsed.
 * @param onlyQuick - Leave out all but {@link QUICK_COMMANDS}, which takes a tenth of the time.
 */
export function buildProgram(found: (invocation: Invocation) => void, onlyQuick = false): Command {
  const program = new Command("cem")
    .description("Runs tasks by writing code against tools that are files, in a sandbox.")
    .usage("<command> [options]")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help; cem help <command> for one command")
    .enablePositionalOptions()
    .configureHelp({ styleTitle: bold, formatHelp: commandsFirst })
    .helpCommand(false)
    .addHelpText("after", examples.PROGRAM);
  const add = (usage: string, description: string, example = ""): Command =>
    addOutputOptions(program.command(usage))
      .description(description)
      .configureHelp({ styleTitle: bold })
      .addHelpText("after", example);

  const addRun = (command: Command): Command =>
    addPlanOptions(addRecordingOptions(addSettingOptions(command)));
  addRun(add("run", "Do a task: find tools, write code, run it", examples.RUN))
    .argument("<task...>", 'the task in plain words, or "-" to read it from stdin')
    .action((words: string[], _, command: Command) =>
      found({ command: "run", task: words.join(" "), options: sharedOptions(program, command) }),
    );
  addRun(add("exec", "Run TypeScript that you bring", examples.EXEC))
    .argument("<file>", 'a TypeScript file, or "-" to read the code from stdin')
    .action((file: string, _, command: Command) =>
      found({ command: "exec", file, options: sharedOptions(program, command) }),
    );
  addRun(add("call", "Call one tool", examples.CALL))
    .argument("<server.tool>", "the tool")
    .argument("[arguments...]", "name=value, name:=json, or one JSON object")
    .action((target: string, args: string[], _, command: Command) =>
      found({ command: "call", target, args, options: sharedOptions(program, command) }),
    );
  if (onlyQuick) return addSettingOptions(addOutputOptions(program));
  addSettingOptions(add("keep-warm", "Keep this folder ready, for quick commands", examples.KEEP_WARM))
    .addArgument(new Argument("[action]", "what to do").choices(KEEP_WARM_ACTIONS).default("start"))
    .option(
      "--idle <minutes>",
      "end after so many minutes without a command",
      wholeNumber(1, MAX_IDLE_MINUTES),
      15,
    )
    .action((action: KeepWarmAction, { idle }: { idle: number }, command: Command) =>
      found({ command: "keep-warm", action, idle, options: sharedOptions(program, command) }),
    );
  addSettingOptions(add("tools", "List the servers and their tools", examples.TOOLS))
    .argument("[server]", "one server, with the signatures of its tools")
    .action((server: string | undefined, _, command: Command) =>
      found({ command: "tools", server, options: sharedOptions(program, command) }),
    );
  addSettingOptions(add("search", "Find tools by what they do", examples.SEARCH))
    .argument("<query...>", "what the tool should do, in plain words")
    .addOption(new Option("--detail <level>", "how much to tell").choices(DETAILS).default("description"))
    .option("--max <count>", "the most tools to list", wholeNumber(1, MAX_SEARCH_RESULTS), 10)
    .action((words: string[], own: { detail: Detail; max: number }, command: Command) =>
      found({
        command: "search",
        query: words.join(" "),
        detail: own.detail,
        max: own.max,
        options: sharedOptions(program, command),
      }),
    );
  addServeCommand(add, (own, command) => found({ ...own, options: sharedOptions(program, command) }));
  addVerifyCommand(add, (own, command) => found({ ...own, options: sharedOptions(program, command) }));
  addQueueCommands(add, (own, command) => found({ ...own, options: sharedOptions(program, command) }));
  addSettingOptions(
    add("doctor", "Check Node, configuration, tools, sandboxes", examples.DOCTOR),
    "--config [file]",
  )
    .option("--security", "look at what protects this host, and at nothing else", false)
    .action((own: { config?: string | true | undefined; security: boolean }, command: Command) => {
      const before = program.opts<{ config?: string | undefined }>().config;
      const config = typeof own.config === "string" ? own.config : before;
      const options = { ...sharedOptions(program, command), config };
      found({ command: "doctor", listValues: own.config !== undefined, security: own.security, options });
    });
  add("init", "Make servers/, skills/, workspace/ and config.yaml", examples.INIT)
    .argument("[dir]", "where", ".")
    .action((dir: string, _, command: Command) =>
      found({ command: "init", dir, options: sharedOptions(program, command) }),
    );
  add("migrate", "Move a project of the Python original over", examples.MIGRATE)
    .argument("[folder]", "the project", ".")
    .addOption(
      new Option("--dry-run", "show what would be made, and make nothing (as without --write)").conflicts(
        "write",
      ),
    )
    .option("--write", "make the files; nothing that is there is changed", false)
    .action((folder: string, { write }: { write: boolean }, command: Command) =>
      found({ command: "migrate", folder, write, options: sharedOptions(program, command) }),
    );
  addSettingOptions(add("trust", "Allow what files of a folder ask for on this host", examples.TRUST))
    .argument("[folder]", "the folder", ".")
    .option("-y, --yes", "trust it without asking", false)
    .addOption(new Option("--list", "list the folders that are trusted").default(false).conflicts("remove"))
    .option("--remove", "trust the folder no longer", false)
    .action((folder: string, own: { yes: boolean; list: boolean; remove: boolean }, command: Command) =>
      found({
        command: "trust",
        folder,
        yes: own.yes,
        list: own.list,
        remove: own.remove,
        options: sharedOptions(program, command),
      }),
    );
  addServerCommands(program, add, found);
  addSettingOptions(add("skills", "List, add, test, promote and remove skills", examples.SKILLS))
    .addArgument(new Argument("[action]", "what to do").choices(SKILL_ACTIONS).default("list"))
    .argument("[name]", "the skill; for add the folder with its SKILL.md, for learn the session")
    .action((action: SkillAction, name: string | undefined, _: unknown, command: Command) =>
      found({ command: "skills", action, name, options: sharedOptions(program, command) }),
    );
  addRunsCommand(add, (own, command) => found({ ...own, options: sharedOptions(program, command) }));
  addRecordingOptions(
    addSettingOptions(add("sessions", "List, show, resume and export logged sessions", examples.SESSIONS)),
  )
    .addArgument(new Argument("[action]", "what to do").choices(SESSION_ACTIONS).default("list"))
    .argument("[id]", "the session: session_003, 3, or last")
    .argument("[task...]", "for resume: what to do next, in plain words")
    .option("--max <count>", "the most sessions to list", wholeNumber(1, MAX_LISTED_SESSIONS), 20)
    .option("--out <file>", "for export: the file, which must not exist")
    .action(
      (
        action: SessionAction,
        id: string | undefined,
        words: string[],
        own: { max: number; out?: string | undefined },
        command: Command,
      ) =>
        found({
          command: "sessions",
          action,
          id,
          task: words.join(" "),
          max: own.max,
          out: own.out,
          options: sharedOptions(program, command),
        }),
    );
  addWorkflowCommand(add, (own, command) => found({ ...own, options: sharedOptions(program, command) }));
  addSettingOptions(add("customers", "List, measure and remove customers", examples.CUSTOMERS))
    .addArgument(new Argument("[action]", "what to do").choices(CUSTOMER_ACTIONS).default("list"))
    .argument("[id]", "the customer")
    .option("--inactive <days>", "for clean: those that were not used for so many days", days)
    .option("--dry-run", "for clean: only say which", false)
    .option("-y, --yes", "remove without asking", false)
    .action(
      (
        action: CustomerAction,
        id: string | undefined,
        own: { inactive?: number | undefined; dryRun: boolean; yes: boolean },
        command: Command,
      ) => found({ command: "customers", action, id, ...own, options: sharedOptions(program, command) }),
    );
  add("examples", "List and run programs that show how the packages are used", examples.EXAMPLES)
    .addArgument(new Argument("[action]", "what to do").choices(EXAMPLE_ACTIONS).default("list"))
    .argument("[ids...]", "for run: their numbers; all without one")
    .action((action: ExampleAction, ids: string[], _: unknown, command: Command) =>
      found({ command: "examples", action, ids, options: sharedOptions(program, command) }),
    );
  addSettingOptions(add("plugins", "List plugins: what each adds, how it stands", examples.PLUGINS))
    .addArgument(new Argument("[action]", "what to do").choices(["list"]).default("list"))
    .action((action: "list", _: unknown, command: Command) =>
      found({ command: "plugins", action, options: sharedOptions(program, command) }),
    );
  addSettingOptions(add("model", "Load a model that compares tools by meaning", examples.MODEL))
    .addArgument(new Argument("<action>", "what to do").choices(["pull"]))
    .argument("[name]", "its name on huggingface.co or the mirror, with @ and a revision where one is wanted")
    .action((action: "pull", name: string | undefined, _: unknown, command: Command) =>
      found({ command: "model", action, name, options: sharedOptions(program, command) }),
    );
  addSettingOptions(add("audit", "Check that an audit log is whole", examples.AUDIT))
    .addArgument(new Argument("<action>", "what to do").choices(["verify"]))
    .argument("[file]", "the log, instead of the one that logging.audit_file names")
    .option("--expect <hash>", "a hash that an earlier check printed, which the log has to have")
    .action((action: "verify", file: string | undefined, { expect }: { expect?: string }, command: Command) =>
      found({ command: "audit", action, file, expect, options: sharedOptions(program, command) }),
    );
  addSettingOptions(add("emit", "Write a typed client of an MCP server", examples.EMIT))
    .addArgument(new Argument("<what>", "what to write").choices(["client"]))
    .argument("<server>", "the server")
    .option("--out <file>", "the file, instead of stdout")
    .action((_what: "client", server: string, { out }: { out?: string }, command: Command) =>
      found({ command: "emit", server, out, options: sharedOptions(program, command) }),
    );
  add("completion", "Print the completion of a shell", examples.COMPLETION)
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action((shell: Shell, _, command: Command) =>
      found({ command: "completion", shell, options: sharedOptions(program, command) }),
    );
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action((words: string[], _, command: Command) =>
      found({ command: "complete", words, options: sharedOptions(program, command) }),
    );
  addFormCommand(add("form", "Show a form, check values for it, or fill it", examples.FORM), (own, command) =>
    found({ command: "form", ...own, options: sharedOptions(program, command) }),
  );
  addBenchCommand(add("bench", "Measure this host", examples.BENCH), (own, command) =>
    found({ command: "bench", ...own, options: sharedOptions(program, command) }),
  );
  add("help [command]", "Print help for a command").action((name: string | undefined) => {
    const command = name === undefined ? program : program.commands.find((one) => one.name() === name);
    if (command !== undefined) return command.help();
    // The parser suggests a similar name.
    program.parse([name ?? ""], { from: "user" });
  });
  return addSettingOptions(addOutputOptions(program));
}

const bold = (text: string): string => `\u001B[1m${text}\u001B[22m`;

/** Formats the usual help with the commands before the options. */
function commandsFirst(command: Command, helper: Help): string {
  const [usage = "", about = "", ...sections] = Help.prototype.formatHelp
    .call(helper, command, helper)
    .trimEnd()
    .split("\n\n");
  const commands = sections.filter((section) => section.includes("Commands:"));
  const others = sections.filter((section) => !commands.includes(section));
  return `${[usage, about, ...commands, ...others].join("\n\n")}\n`;
}
