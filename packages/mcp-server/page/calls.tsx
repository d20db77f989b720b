import type { RunDetails } from "../src/console/schemas.ts";
import { EndedRow, EndedTable } from "./ended-table.tsx";
import { asText, Code, formatBytes, formatCount, formatMs, Part } from "./parts.tsx";

const MAX_SHOWN_CALLS = 100;

/** The calls of a run. */
export function Calls({ run: { toolCalls, toolCallsLeftOut } }: { run: RunDetails }) {
  if (toolCalls.length === 0) return null;
  const shown = toolCalls.slice(0, MAX_SHOWN_CALLS);
  const more = toolCalls.length - shown.length + toolCallsLeftOut;
  return (
    <Part title={`Calls (${formatCount(shown.length + more)})`}>
      <EndedTable what="Tool" figure="Time">
        {shown.map(({ server, tool, ok, ms, args, result }, at) => (
          <EndedRow key={at} name={`${server}.${tool}`} ended={ok ? "well" : "failed"} figure={formatMs(ms)}>
            {args !== undefined && <Data label="given" data={args} />}
            {result !== undefined && <Data label="answered" data={result} />}
          </EndedRow>
        ))}
      </EndedTable>
      {more > 0 && <p class="hint">And {formatCount(more)} more.</p>}
    </Part>
  );
}

/** What a call was given or answered. */
function Data({
  label,
  data,
}: {
  label: string;
  data: NonNullable<RunDetails["toolCalls"][number]["args"]>;
}) {
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
