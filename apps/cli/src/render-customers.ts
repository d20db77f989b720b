import type { CustomerUsage } from "code-execution-mcp/admin";
import { renderTable } from "./render-table.ts";
import { counted } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

const BYTES_PER_MB = 1024 * 1024;
const DATE_CHARACTERS = 10;
const MS_PER_SECOND = 1_000;
const MS_PER_MINUTE = 60_000;
const MINUTES_PER_HOUR = 60;

/** Renders customers as a table. */
export function renderCustomers(customers: readonly CustomerUsage[], what: string, style: Style): string[] {
  const rows = customers.map(({ id, bytes, entries, lastUsed }) => ({
    customer: id,
    MB: Number((bytes / BYTES_PER_MB).toFixed(1)),
    files: entries,
    "last used": lastUsed.slice(0, DATE_CHARACTERS),
  }));
  const table = rows.length === 0 ? [] : renderTable(rows, style).map((line) => `  ${line}`);
  return [
    "",
    ...table,
    ...(rows.length === 0 ? [] : [""]),
    ...renderQuotas(customers, style),
    style.colors.dim(`  ${counted(rows.length, what)}.`),
  ];
}

/** What each customer has used of each quota. */
function renderQuotas(customers: readonly CustomerUsage[], style: Style): string[] {
  const rows = customers.flatMap(({ id, quotas = [] }) =>
    quotas.map(({ per, runs, maxRuns, seconds, maxSeconds, resetsInMs }) => ({
      customer: id,
      per,
      runs: maxRuns === undefined ? String(runs) : `${runs} of ${maxRuns}`,
      seconds: [seconds.toFixed(1), ...(maxSeconds === undefined ? [] : [`of ${maxSeconds}`])].join(" "),
      "free again": resetsInMs === undefined ? "" : `in ${formatWait(resetsInMs)}`,
    })),
  );
  return rows.length === 0 ? [] : [...renderTable(rows, style).map((line) => `  ${line}`), ""];
}

function formatWait(ms: number): string {
  const minutes = Math.ceil(ms / MS_PER_MINUTE);
  if (minutes < 2) return `${Math.ceil(ms / MS_PER_SECOND)} s`;
  return minutes < 2 * MINUTES_PER_HOUR ? `${minutes} min` : `${Math.ceil(minutes / MINUTES_PER_HOUR)} h`;
}
