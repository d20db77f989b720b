import type { RecordedCall, RecordedData, RunRecord, RunRecordSummary } from "@cem/core";
import { renderCode } from "./render-code.ts";
import { renderRow } from "./render-rows.ts";
import { renderValue } from "./render-value.ts";
import { oneLine, safeText } from "./safe-text.ts";
import { counted, cut, duration, grouped, wrapIndented } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

const INDENT = "  ";
const MAX_SHOWN_CHARACTERS = 300;
/** A token that stands for a value. */
const TOKEN = /\[\[[A-Z][A-Z\d_]*:[a-z2-7]{16}\]\]|@redacted\.invalid|\/\/redacted\.invalid\//u;

/** Renders a list of recorded runs. */
export function renderRuns(runs: readonly RunRecordSummary[], style: Style, isFiltered: boolean): string[] {
  if (runs.length === 0) {
    const none = isFiltered
      ? "No recorded run is like that."
      : 'No run is recorded here yet. Begin one: cem run "<task>"';
    return ["", ...wrapIndented(none, INDENT, style.width)];
  }
  const { colors } = style;
  const lines = runs.flatMap(({ id, title, status, startedAt, ms, calls, customer }) => {
    const about = [
      timeOf(startedAt),
      duration(ms),
      counted(calls, "call"),
      ...(customer === undefined ? [] : [customer]),
    ];
    const paint = status === "success" ? String : colors.red;
    return [
      "",
      ...wrapIndented(`${oneLine(id)}  ${status}  ${oneLine(about.join(", "))}`, INDENT, style.width).map(
        (line, at) =>
          at === 0
            ? line
                .replace(oneLine(id), (name) => colors.bold(name))
                .replace(`  ${status}`, `  ${paint(status)}`)
            : line,
      ),
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
export function renderRun(run: RunRecord, style: Style, all: boolean): string[] {
  const { colors } = style;
  const row = (label: string, text: string): string[] =>
    text === "" ? [] : renderRow(label, oneLine(text), style);
  const { isolation, contextTokens: tokens, timings, error } = run;
  const stages = Object.entries(timings).filter(([stage]) => stage !== "total");
  return [
    "",
    `${INDENT}${colors.bold(oneLine(run.id))}`,
    "",
    ...row("status", run.status),
    ...row("started", `${timeOf(run.startedAt)}, took ${duration(run.ms)}`),
    ...row("customer", run.customer ?? ""),
    ...(run.kind === "task" ? row("task", run.input) : []),
    ...row("stages", stages.map(([stage, ms]) => `${stage} ${duration(ms)}`).join(", ")),
    ...row("guest", isolation === null ? "" : `${isolation.level} (${isolation.mechanisms.join(", ")})`),
    ...row("context", `${counted(tokens.used, "token")} instead of ${grouped(tokens.direct)}`),
    ...(run.code === "" ? [] : ["", ...renderCode(safeText(run.code), style, all)]),
    ...(run.calls.length === 0 ? [] : [""]),
    ...run.calls.flatMap((call) => renderCall(call, style)),
    ...row("", run.callsLeftOut === 0 ? "" : `and ${counted(run.callsLeftOut, "more call")}, not recorded`),
    ...(run.output === "" ? [] : ["", ...row("output", run.outputIsCut ? "its beginning:" : "")]),
    ...run.output
      .trimEnd()
      .split("\n")
      .filter(() => run.output !== "")
      .map((line) => `${INDENT}${cut(safeText(line), style.width - INDENT.length)}`),
    ...(error === null
      ? []
      : [
          "",
          ...renderRow("error", oneLine(`${error.code}: ${error.message}`), style, { paint: colors.red }),
        ]),
    ...(run.value === undefined || error !== null ? [] : ["", ...valueLines(run.value, style)]),
    ...run.notes.flatMap((note) => row("note", note)),
  ];
}

/** What a replay is about to do. */
export function renderReplay({
  run,
  answered,
  missing,
}: {
  run: RunRecord;
  /** Calls that are answered as they were. Absent where calls are made for real. */
  answered: number | undefined;
  missing: number;
}): string[] {
  const hasTokens = TOKEN.test(run.code);
  const calls = counted(run.calls.length + run.callsLeftOut, "call");
  const what =
    answered === undefined
      ? `Its ${calls} will be made for real, and what needs a yes asks again.`
      : `${counted(answered, "call")} to the host will be answered as recorded, and nothing is changed there.`;
  return [
    `Running the code of ${oneLine(run.id)} again, of ${timeOf(run.startedAt)}. ${what}`,
    ...(answered === undefined || missing === 0
      ? []
      : [
          `${counted(missing, "call")} can't be answered, since not all of it is recorded, and will fail with NOT_RECORDED.`,
        ]),
    ...(hasTokens ? ["Values of persons stand as tokens in the recorded code, and stay tokens."] : []),
  ];
}

function renderCall({ server, tool, ms, ok, args, result }: RecordedCall, style: Style): string[] {
  const name = oneLine(safeText(`${server}.${tool}`));
  return [
    ...renderRow(ok ? "call" : "failed", name, style, {
      right: duration(ms),
      ...(!ok && { paint: style.colors.red }),
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

function valueLines(data: RecordedData, style: Style): string[] {
  return "value" in data ? renderValue(data.value, style) : [`${INDENT}${shown(data)}`];
}

function timeOf(iso: string): string {
  return `${iso.slice(0, 19).replace("T", " ")} UTC`;
}
