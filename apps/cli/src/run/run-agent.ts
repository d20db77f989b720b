import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { CemError, parseJson, type Agent, type ExecuteOptions, type TaskResult } from "@cem/core";
import type { PlannedWrite } from "code-execution-mcp";
import { askYesNo } from "../ask/prompt.ts";
import type { SharedOptions } from "../command/options.ts";
import { EXIT_FAILED, EXIT_OK, withHint } from "../errors.ts";
import type { Answer, CommandContext } from "../io/terminal.ts";
import { renderBrief, renderFailure, renderResult } from "../render/result.ts";
import { renderPairs } from "../render/rows.ts";
import { counted, INDENT, oneLine, safeText, type Style } from "../render/text.ts";
import { withAgent } from "./agent-source.ts";
import { callProgram } from "./call-program.ts";
import { createRunProgress } from "./run-progress.ts";

const MAX_SHOWN_CHARACTERS = 300;
/** The message about an imported file that the workspace lacks. */
const MISSING_MODULE = /There is no module (\.\S+)\. /;

type Work =
  | { kind: "task"; task: string; resume?: string | undefined }
  | { kind: "code"; code: string; folder?: string | undefined; resume?: undefined }
  | { kind: "call"; target: string; args: readonly string[]; resume?: undefined };

/** @throws CemError `USAGE`, `SERVER_NOT_FOUND` or `TOOL_NOT_FOUND` for a call that can't be made. */
async function performWork(agent: Agent, work: Work, options: ExecuteOptions): Promise<TaskResult> {
  if (work.kind === "task") return agent.executeTask(work.task, options);
  if (work.kind === "code") return agent.executeCode(work.code, options);
  const servers = [work.target.split(".", 1).join("")];
  const catalog = await agent.discoverTools({ signal: options.signal, servers });
  return agent.executeCode(callProgram(work.target, work.args, catalog), options);
}

/** Runs code, a call or a task, depending on the options: directly, as a dry run, or within an approved plan. */
export async function runAgent(work: Work, options: SharedOptions, context: CommandContext): Promise<Answer> {
  if (options.dryRun === true) return runDry(work, options, context);
  const approvedWrites = options.plan === undefined ? undefined : await readPlan(options.plan);
  const execute = executeOptions(context, options);
  const done = await withAgent(options, context, (agent) => performWork(agent, work, execute), {
    approvedWrites,
    resume: work.resume,
  });
  return answerToResult(withHintOfFile(done, work), options, codeOf(work));
}

/** Adds a hint where code imports a file that stands beside its own, and not in the workspace. */
function withHintOfFile(result: TaskResult, work: Work): TaskResult {
  const { error } = result;
  const [, specifier] = MISSING_MODULE.exec(error?.message ?? "") ?? [];
  if (error === null || work.kind !== "code" || work.folder === undefined || specifier === undefined)
    return result;
  const file = path.join(work.folder, specifier);
  if (!existsSync(file)) return result;
  return { ...result, error: { ...error, hint: `${file} is not in the workspace folder: copy it there.` } };
}

/** Lists the writes and, after confirmation at an interactive terminal, executes exactly these. */
async function runDry(work: Work, options: SharedOptions, context: CommandContext): Promise<Answer> {
  const writes: PlannedWrite[] = [];
  const result = await withAgent(
    options,
    context,
    (agent) => performWork(agent, work, executeOptions(context, options)),
    { onPlannedWrite: (write) => void writes.push(write), resume: work.resume },
  );
  const answer = answerToResult(withHintOfFile(result, work), options, codeOf(work));
  const listed: Answer = {
    ...answer,
    data: { ...answer.data, dryRun: true, code: result.code, writes },
    report: (style) => [
      ...answer.report(style),
      ...renderWrites(writes, style),
      ...(result.status === "success" || writes.length === 0 ? [] : ["", `${INDENT}${STOOD_IN}`]),
    ],
  };
  const { live, io } = context;
  const mayAsk = result.status === "success" && writes.length > 0 && live !== undefined;
  if (!mayAsk || io.stdin.isTTY !== true) return listed;
  live.write(`${renderWrites(writes, live.style).join("\n")}\n`);
  if (!(await askYesNo(`Make ${counted(writes.length, "change")}?`, context))) return listed;
  const made = await withAgent(
    options,
    context,
    (agent) => agent.executeCode(result.code, executeOptions(context, options)),
    { approvedWrites: writes },
  );
  return answerToResult(made, options, codeOf(work));
}

const STOOD_IN =
  "In a dry run tools that may change something answer null, which may be why the code failed.";

function renderWrites(writes: readonly PlannedWrite[], style: Style): string[] {
  if (writes.length === 0) return ["", `${INDENT}It would change nothing.`];
  const pairs = writes.map(({ server, tool, args }): [string, string] => {
    const json = oneLine(safeText(JSON.stringify(args)));
    const shown = json.length > MAX_SHOWN_CHARACTERS ? `${json.slice(0, MAX_SHOWN_CHARACTERS)}…` : json;
    return [oneLine(safeText(`${server}.${tool}`)), shown];
  });
  return [
    "",
    `${INDENT}It would make ${counted(writes.length, "change")}:`,
    "",
    ...renderPairs(pairs, INDENT, style),
  ];
}

/** Reads the output of `--dry-run --json`: a program and its planned writes, which are approved as one plan. */
async function readPlan(file: string): Promise<readonly PlannedWrite[]> {
  const { code, writes } = (parseJson(await readFile(file)) ?? {}) as { code?: unknown; writes?: unknown };
  if (typeof code === "string" && Array.isArray(writes) && writes.every(isWrite)) return writes;
  throw new CemError(
    "USAGE",
    `${file} is not a plan. A plan is what a command prints with --dry-run --json.`,
  );
}

function isWrite(value: unknown): value is PlannedWrite {
  const { server, tool, args } = (value ?? {}) as Partial<PlannedWrite>;
  return typeof server === "string" && typeof tool === "string" && args !== undefined;
}

/** The options of a run, with live progress if there is an output for it. Nothing is shown after it was stopped. */
export function executeOptions({ signal, live }: CommandContext, options: SharedOptions): ExecuteOptions {
  const { mode } = options;
  if (live === undefined) return { signal, mode };
  const show = createRunProgress(live, options);
  return { signal, mode, onEvent: (event) => signal.aborted || show(event) };
}

/** The code as it was written, if the result's is a version of it. */
function codeOf(work: Work): string | undefined {
  return work.kind === "code" ? work.code : undefined;
}

/** @param written - The code to show, whose lines are those of the result's. Default: the result's. */
export function answerToResult(
  given: TaskResult,
  options: Pick<SharedOptions, "verbose">,
  written = given.code,
): Answer {
  const result = given.error === null ? given : { ...given, error: withHint(given.error) };
  return {
    exitCode: result.status === "success" ? EXIT_OK : EXIT_FAILED,
    data: result,
    report: (style) => renderResult(result, style, options),
    brief: (forTerminal) => renderBrief(result, forTerminal),
    complaint: (style) => renderFailure({ ...result, code: written }, style, options),
  };
}
