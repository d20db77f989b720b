export interface Table {
  title: string;
  columns: string[];
  rows: string[][];
}

export function renderTable({ title, columns, rows }: Table): string {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => (row[index] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0))).join("   ")}`;
  return [title, line(columns), ...rows.map(line), ""].join("\n");
}
