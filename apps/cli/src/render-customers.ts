import type { CustomerUsage } from "code-execution-mcp/admin";
import { renderTable } from "./render-table.ts";
import { counted } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

const BYTES_PER_MB = 1024 * 1024;
const DATE_CHARACTERS = 10;

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
    style.colors.dim(`  ${counted(rows.length, what)}.`),
  ];
}
