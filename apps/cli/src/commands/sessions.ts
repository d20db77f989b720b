import { CemError } from "@cem/core";
import type { SessionRecord } from "@cem/core";
import type { SessionSummary } from "code-execution-mcp/admin";
import { EXIT_OK } from "../errors.ts";
import type { Answer, CommandContext } from "../io/command-context.ts";
import { renderRow } from "../render/rows.ts";
import { oneLine, safeData, counted, wrapIndented } from "../render/text.ts";
import type { Style } from "../render/text.ts";
import { serverSourceOf } from "../run/config-source.ts";
import { withAgent } from "../run/agent-source.ts";
import { answerToResult, executeOptions } from "../run/run-agent.ts";
import { addOptions, defineCommand } from "../command/define-command.ts";
import type { Given } from "../command/define-command.ts";
import { settingOptions, actionArgument, wholeNumber } from "../command/options.ts";

const ACTIONS = ["list", "show", "resume"] as const;
type Action = (typeof ACTIONS)[number];
const MAX_LISTED = 100_000;

/** Arguments. */
interface Sessions {
  action: Action;
  /** `session_001`, `1` or `last`. */
  id?: string | undefined;
  /** The next task, for `resume`. */
  task: string;
  max: number;
}

/** `cem sessions`: lists logged sessions, shows one, or goes on with it. */
export const sessions = defineCommand<Sessions>({
  name: "sessions",
  group: "runs",
  about: "List, show and resume logged sessions",
  help: `
Each run is kept in the log of its session: files sessions/session_001.json and so on in the workspace, while
execution.state.auto_save is true. A task that resumes a session is told what its earlier tasks did.

Examples:
  cem sessions
  cem sessions show last
  cem sessions resume 3 "Continue from step 2"
  cem sessions show last --json > session.json`,
  declare: (command) =>
    addOptions(command, settingOptions())
      .addArgument(actionArgument(ACTIONS, "list"))
      .argument("[id]", "the session: session_003, 3, or last")
      .argument("[task...]", "for resume: what to do next, in plain words")
      .option("--max <count>", "the most sessions to list", wholeNumber(1, MAX_LISTED), 20),
  read: (command, named) => ({ ...named, task: command.args.slice(2).join(" ") }),
  run: manageSessions,
});

async function manageSessions(invocation: Given<Sessions>, context: CommandContext): Promise<Answer> {
  const { listSessions, readSession } = await import("code-execution-mcp/admin");
  const { action, id, max, options } = invocation;
  if (action === "list") {
    const sessions = safeData(await listSessions({ ...serverSourceOf(options, context), max }));
    return {
      exitCode: EXIT_OK,
      data: { status: "success", sessions },
      report: (style) => renderSessions(sessions, style),
      brief: () => sessions.map(({ session_id: name }) => name).join("\n"),
    };
  }
  const named = requireId(action, id);
  if (action === "resume") return resume(named, invocation, context);
  const session = await readSession(named, serverSourceOf(options, context));
  const safe = safeData(session);
  return {
    exitCode: EXIT_OK,
    data: { status: "success", session },
    report: (style) => renderSession(safe, style),
    brief: () => safe.tasks.map(({ description }) => oneLine(description)).join("\n"),
  };
}

async function resume(
  id: string,
  { task, options }: Given<Sessions>,
  context: CommandContext,
): Promise<Answer> {
  const { readSession } = await import("code-execution-mcp/admin");
  if (task.trim() === "") {
    throw new CemError(
      "USAGE",
      "cem sessions resume needs a task after the session. See: cem sessions --help",
    );
  }
  // It has to be there before anything runs.
  await readSession(id, serverSourceOf(options, context));
  return withAgent(
    options,
    context,
    async (agent) => answerToResult(await agent.executeTask(task, executeOptions(context, options)), options),
    { resume: id },
  );
}

/** @throws CemError `USAGE` */
function requireId(action: Action, id: string | undefined): string {
  if (id !== undefined) return id;
  throw new CemError("USAGE", `cem sessions ${action} needs a session. See: cem sessions --help`);
}

const INDENT = "  ";

/** Renders a list of sessions. */
function renderSessions(sessions: readonly SessionSummary[], style: Style): string[] {
  const { colors } = style;
  if (sessions.length === 0) return ["", '  No session is logged here yet. Begin one: cem run "<task>"'];
  const lines = sessions.flatMap(
    ({ session_id: id, started_at: at, ended_at: ended, tasks, lastTask, step }) => {
      const about = [
        dateOf(at),
        counted(tasks, "task"),
        ...(step === undefined ? [] : [`step ${step}`]),
        ...(ended === null ? ["not ended"] : []),
      ].join(", ");
      return [
        "",
        `${INDENT}${colors.bold(oneLine(id))}  ${oneLine(about)}`,
        ...(lastTask === "" ? [] : wrapIndented(oneLine(lastTask), `${INDENT}${INDENT}`, style.width)),
      ];
    },
  );
  return [...lines, "", colors.dim(`${INDENT}cem sessions show <session> tells more.`)];
}

/** Renders a session with its tasks. */
function renderSession(session: SessionRecord, style: Style): string[] {
  const { tasks, checkpoint, state_files: files } = session;
  const row = (label: string, text: string): string[] =>
    text === "" ? [] : renderRow(label, oneLine(text), style);
  return [
    "",
    `${INDENT}${style.colors.bold(oneLine(session.session_id))}`,
    "",
    ...row("started", dateOf(session.started_at)),
    ...row("ended", session.ended_at === null ? "no" : dateOf(session.ended_at)),
    ...row("state", files.join(", ")),
    ...row("step", checkpoint === null ? "" : `${checkpoint.step}`),
    ...row("context", checkpoint?.context == null ? "" : JSON.stringify(checkpoint.context)),
    ...tasks.flatMap(({ task_id: id, description, code, result, error }) => [
      "",
      ...row(id, description === "" ? code : description),
      ...row("", error ?? JSON.stringify(result)),
    ]),
  ];
}

function dateOf(iso: string): string {
  return iso.slice(0, 16).replace("T", " ");
}
