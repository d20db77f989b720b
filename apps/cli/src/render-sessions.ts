import type { SessionRecord } from "@cem/core";
import type { SessionSummary } from "code-execution-mcp/admin";
import { renderRow } from "./render-rows.ts";
import { oneLine } from "./safe-text.ts";
import { counted, wrapIndented } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

const INDENT = "  ";

/** Renders a list of sessions. */
export function renderSessions(sessions: readonly SessionSummary[], style: Style): string[] {
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
export function renderSession(session: SessionRecord, style: Style): string[] {
  const { tasks, checkpoint, state_files: files } = session;
  const row = (label: string, text: string): string[] =>
    text === "" ? [] : renderRow(label, oneLine(text), style);
  return [
    "",
    `${INDENT}${style.colors.bold(oneLine(session.session_id))}`,
    "",
    ...row("started", dateOf(session.started_at)),
    ...row("ended", session.ended_at === null ? "no" : dateOf(session.ended_at)),
    ...row("customer", session.customer_uid ?? ""),
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
