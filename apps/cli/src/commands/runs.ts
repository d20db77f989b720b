import { CemError, holdsRedactionToken, RECORDED_STATUSES, statusOfCall } from "@cem/core";
import type { RecordedCall, RecordedData, RunRecord, RunRecordSummary } from "@cem/core";
import type { RunRecording } from "code-execution-mcp/admin";
import { InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "../io/terminal.ts";
import { renderCode, renderValue } from "../render/value.ts";
import { renderRow } from "../render/rows.ts";
import {
  counted,
  cut,
  duration,
  grouped,
  INDENT,
  joined,
  oneLine,
  safeText,
  wrapIndented,
} from "../render/text.ts";
import type { Style } from "../render/text.ts";
import { actionArgument, CODE_SETTINGS, serverSourceOf, wholeNumber } from "../command/options.ts";
import { withAgent } from "../run/agent-source.ts";
import { answerToResult, executeOptions } from "../run/run-agent.ts";
import { answer, defineCommand, needed, type Given } from "../command/define-command.ts";

const ACTIONS = ["list", "show", "replay"] as const;
const MAX_LISTED = 100_000;
const MS_OF: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

interface Runs {
  action: (typeof ACTIONS)[number];
  id?: string | undefined;
  status?: RunRecord["status"] | undefined;
  since?: Date | undefined;
  text?: string | undefined;
  max: number;
  recorded: boolean;
}

export const runs = defineCommand<Runs>({
  name: "runs",
  group: "runs",
  about: "List, show and replay recorded runs",
  help: `
Runs of cem and of servers are recorded in .cem/runs, or in the store of store.url: code, calls, times, what was printed.
Personal data and secrets are tokens there. A replay runs the code again, and its calls are made for real; with
--recorded they are answered as they were, but with these tokens, and nothing is changed. runs.records: false
switches records off.

Examples:
  cem runs
  cem runs --status error --since 2d
  cem runs show last
  cem runs replay run-tbE6NbkVYnPd --recorded`,
  settings: CODE_SETTINGS,
  declare: (command) =>
    command
      .addArgument(actionArgument(ACTIONS, "list"))
      .argument("[id]", "the run: its id, or last")
      .addOption(new Option("--status <status>", "for list: how they ended").choices(RECORDED_STATUSES))
      .option("--since <time>", "for list: 30m, 2h, 3d, or a date such as 2026-11-22", parseSince)
      .option("--text <text>", "for list: a text in the error, tools, task or the beginning of the code")
      .option("--max <count>", "the most runs to list", wholeNumber(1, MAX_LISTED), 20)
      .option("--recorded", "for replay: answer calls as they were answered", false),
  async run(invocation, context) {
    const { listRuns, readRun } = await import("code-execution-mcp/admin");
    const { action, id, status, since, text, max, options } = invocation;
    const source = serverSourceOf(options, context);
    if (action === "list") {
      const runs = await listRuns({ status, since, text, limit: max }, source);
      const isFiltered = status !== undefined || since !== undefined || text !== undefined;
      return answer({
        data: { runs },
        report: (shown, style) => renderRuns(shown.runs, style, isFiltered),
        brief: (shown) => shown.runs.map((run) => run.id).join("\n"),
      });
    }
    const run = await readRun(needed(id, `runs ${action}`, "a run"), source);
    if (action === "replay") return replay(run, invocation, context);
    return answer({
      data: { run },
      report: (shown, style) => renderRun(shown.run, style, options.verbose),
      brief: (shown) => shown.run.code,
    });
  },
});

function parseSince(written: string): Date {
  const [, number, unit = ""] = /^(\d{1,6})([mhd])$/u.exec(written) ?? [];
  const date =
    number === undefined
      ? new Date(/^\d{4}-\d\d-\d\d/u.test(written) ? written : Number.NaN)
      : new Date(Date.now() - Number(number) * (MS_OF[unit] ?? 0));
  if (Number.isNaN(date.getTime()))
    throw new InvalidArgumentError("It is a time before now (30m, 2h, 3d) or a date such as 2026-11-22.");
  return date;
}

/** Describes the replay, then runs the code again. */
async function replay(run: RunRecord, { recorded, options }: Given<Runs>, context: CommandContext) {
  const { recordingOfRun } = await import("code-execution-mcp/admin");
  if (run.code === "" || !run.codeIsWhole) {
    const why = run.code === "" ? "has no code" : "has more code than is recorded";
    throw new CemError("RECORDING_INVALID", `${run.id} ${why}, so it can't be run again.`, {
      details: { run: run.id },
    });
  }
  const { recording, missing } = recordingOfRun(run);
  const about = renderReplay(run, recorded ? recording.length : undefined, missing);
  if (!options.quiet && !options.json) context.io.stderr.write(`${about.join("\n")}\n`);
  return withAgent(
    options,
    context,
    async (agent) => {
      const result = await agent.executeCode(run.code, executeOptions(context, options));
      const notes = [...(result.notes ?? []), ...(recorded ? notesOfTokens(recording) : [])];
      return answerToResult({ ...result, ...(notes.length > 0 && { notes }) }, options);
    },
    // The code writes to a copy of the workspace.
    recorded ? { replay: recording, onPlannedWrite: () => {} } : {},
  );
}

/** Code that inspects a value may behave differently with a token in its place. */
function notesOfTokens(recording: RunRecording["recording"]): string[] {
  const count = recording.filter(({ result }) => holdsRedactionToken(JSON.stringify(result))).length;
  if (count === 0) return [];
  return [
    `${counted(count, "recorded answer")} held personal data, in whose place the code got tokens, so its result may differ from that of then.`,
  ];
}

const MAX_SHOWN_CHARACTERS = 300;

function renderRuns(runs: readonly RunRecordSummary[], style: Style, isFiltered: boolean): string[] {
  if (runs.length === 0) {
    const none = isFiltered
      ? "No recorded run matches."
      : 'No run is recorded here yet. Begin one: cem run "<task>"';
    return ["", ...wrapIndented(none, INDENT, style.width)];
  }
  const { colors } = style;
  const lines = runs.flatMap(({ id, title, status, startedAt, ms, calls, workspaceOwner }) => {
    const about = joined(timeOf(startedAt), duration(ms), counted(calls, "call"), workspaceOwner);
    const paint = status === "success" ? String : colors.red;
    const heading = `${colors.bold(oneLine(id))}  ${paint(status)}  ${oneLine(about)}`;
    return [
      "",
      ...wrapIndented(heading, INDENT, style.width),
      `${INDENT}${INDENT}${cut(oneLine(title), style.width - INDENT.length * 2)}`,
    ];
  });
  return [
    ...lines,
    "",
    ...wrapIndented("cem runs show <run> tells more.", INDENT, style.width).map(colors.dim),
  ];
}

/** Renders a recorded run: how it went, its code, its calls, its result. */
function renderRun(run: RunRecord, style: Style, all: boolean): string[] {
  const { colors } = style;
  const row = (label: string, text: string) => (text === "" ? [] : renderRow(label, oneLine(text), style));
  const { isolation, contextTokens: tokens, timings } = run;
  const stages = Object.entries(timings).filter(([stage]) => stage !== "total");
  const lines = run.output.trimEnd().split("\n");
  const output = lines.map((line) => `${INDENT}${cut(safeText(line), style.width - INDENT.length)}`);
  return [
    "",
    `${INDENT}${colors.bold(oneLine(run.id))}`,
    "",
    ...row("status", run.status),
    ...row("started", `${timeOf(run.startedAt)}, took ${duration(run.ms)}`),
    ...row("customer", run.workspaceOwner ?? ""),
    ...(run.kind === "task" ? row("task", run.input) : []),
    ...row("stages", stages.map(([stage, ms]) => `${stage} ${duration(ms)}`).join(", ")),
    ...row("isolation", isolation === null ? "" : `${isolation.level} (${isolation.mechanisms.join(", ")})`),
    ...row("context", `${counted(tokens.used, "token")} instead of ${grouped(tokens.direct)}`),
    ...(run.code === "" ? [] : ["", ...renderCode(safeText(run.code), style, all)]),
    ...(run.calls.length === 0 ? [] : [""]),
    ...run.calls.flatMap((call) => renderCall(call, style)),
    ...row("", run.callsLeftOut === 0 ? "" : `and ${counted(run.callsLeftOut, "more call")}, not recorded`),
    ...(run.output === "" ? [] : ["", ...row("output", run.outputIsCut ? "its beginning:" : ""), ...output]),
    ...renderOutcome(run, style),
    ...run.notes.flatMap((note) => row("note", note)),
  ];
}

function renderOutcome({ error, value }: RunRecord, style: Style): string[] {
  if (error !== null) {
    const text = oneLine(`${error.code}: ${error.message}`);
    return ["", ...renderRow("error", text, style, { paint: style.colors.red })];
  }
  if (value === undefined) return [];
  return ["", ...("value" in value ? renderValue(value.value, style) : [`${INDENT}${shown(value)}`])];
}

/** @param answered - The number of calls answered from the record. Absent if calls are actually made. */
function renderReplay(run: RunRecord, answered: number | undefined, missing: number): string[] {
  const heading = `Running the code of ${oneLine(run.id)} again, of ${timeOf(run.startedAt)}.`;
  const tokens = "Personal data is replaced by tokens in the recorded code, and stays so.";
  const hasTokens = holdsRedactionToken(run.code);
  if (answered === undefined) {
    const calls = counted(run.calls.length + run.callsLeftOut, "call");
    const advice = "To run it with them, have its calls answered as recorded: --recorded.";
    return [
      `${heading} Its ${calls} will be made for real, and what needs approval asks again.`,
      ...(hasTokens ? [`${tokens} ${advice}`] : []),
    ];
  }
  const unanswered = `${counted(missing, "call")} can't be answered, since not all of it is recorded, and will fail with NOT_RECORDED.`;
  return [
    `${heading} ${counted(answered, "call")} to the host will be answered as recorded, and nothing is changed there.`,
    ...(missing === 0 ? [] : [unanswered]),
    ...(hasTokens ? [tokens] : []),
  ];
}

function renderCall(call: RecordedCall, style: Style): string[] {
  const { server, tool, ms, args, result } = call;
  const name = oneLine(safeText(`${server}.${tool}`));
  const status = statusOfCall(call);
  return [
    ...renderRow(status === "success" ? "call" : status, name, style, {
      right: duration(ms),
      ...(status !== "success" && { paint: style.colors.red }),
    }),
    ...(args === undefined ? [] : renderRow("", shown(args), style)),
    ...(result === undefined ? [] : renderRow("", `→ ${shown(result)}`, style)),
  ];
}

function shown(data: RecordedData): string {
  if (!("value" in data)) return `${grouped(data.bytes)} bytes, not recorded`;
  const json = oneLine(safeText(JSON.stringify(data.value)));
  return json.length > MAX_SHOWN_CHARACTERS ? `${json.slice(0, MAX_SHOWN_CHARACTERS)}…` : json;
}

function timeOf(iso: string): string {
  return `${iso.slice(0, 19).replace("T", " ")} UTC`;
}
