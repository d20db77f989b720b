import type { RunDetails } from "../src/console/schemas.ts";
import { Code } from "./code.tsx";
import { EndedRow, EndedTable } from "./ended-table.tsx";
import { asText, formatBytes, formatCount, formatMs, Part } from "./parts.tsx";

const MAX_SHOWN_CALLS = 100;
/** A shorter call is still seen. In percent of the whole. */
const MIN_BAR_PERCENT = 0.8;

type Call = RunDetails["toolCalls"][number];

/** The calls of a run, each with its time on a line from the first to the last. */
export function Calls({ run: { toolCalls, toolCallsLeftOut } }: { run: RunDetails }) {
  if (toolCalls.length === 0) return null;
  const shown = toolCalls.slice(0, MAX_SHOWN_CALLS);
  const more = toolCalls.length - shown.length + toolCallsLeftOut;
  const end = Math.max(...toolCalls.map(({ startMs = 0, ms }) => startMs + ms));
  return (
    <Part title={`Calls (${formatCount(shown.length + more)})`}>
      <EndedTable what="Tool" figure="Time">
        {shown.map((call, at) => (
          <EndedRow
            key={at}
            name={`${call.server}.${call.tool}`}
            ended={call.status}
            figure={formatMs(call.ms)}
          >
            <Bar call={call} end={end} />
            {call.args !== undefined && <Data label="given" data={call.args} />}
            {call.result !== undefined && <Data label="answered" data={call.result} />}
          </EndedRow>
        ))}
      </EndedTable>
      {more > 0 && <p class="hint">And {formatCount(more)} more.</p>}
    </Part>
  );
}

function Bar({ call: { startMs, ms, status }, end }: { call: Call; end: number }) {
  if (startMs === undefined || end === 0) return null;
  const width = Math.max(MIN_BAR_PERCENT, (ms / end) * 100);
  const from = Math.min(100 - width, (startMs / end) * 100);
  const told = `From ${formatMs(startMs)} to ${formatMs(startMs + ms)}`;
  return (
    <svg
      class={`bar-line ${status === "success" ? "" : "bad"}`}
      role="img"
      aria-label={told}
      width="100%"
      height="6"
    >
      <title>{told}</title>
      <rect class="track" width="100%" height="6" rx="3" />
      <rect x={`${from}%`} width={`${width}%`} height="6" rx="3" />
    </svg>
  );
}

/** Arguments or result of a call. */
function Data({ label, data }: { label: string; data: NonNullable<Call["args"]> }) {
  return (
    <details>
      <summary>{label}</summary>
      {"value" in data ? (
        <Code label={label} text={asText(data.value)} />
      ) : (
        <p class="hint">{formatBytes(data.bytes)}, not recorded</p>
      )}
    </details>
  );
}
