import type { OutputStream } from "../io/command-io.ts";
import { columnsOf, wrap } from "../render/text.ts";

const MIN_COLUMNS = 40;
/** A paragraph whose lines are longer than this goes on in the next line. */
const LONG_LINE_COLUMNS = 70;
const DESCRIPTION_INDENT = 4;
const EXAMPLES = "Examples:";

/** The columns that help may take: those of the terminal, else what COLUMNS says; `undefined` where neither is known. */
export function helpColumns({ isTTY, columns }: OutputStream, env: NodeJS.ProcessEnv): number | undefined {
  const known = isTTY === true ? columns : Number(env["COLUMNS"]);
  return known === undefined || !(known > 0) ? undefined : Math.max(known, MIN_COLUMNS);
}

/** Breaks the lines of help that are wider than the terminal, so that each still reads, and commands can be copied. */
export function fitHelp(text: string, width: number): string {
  let isExample = false;
  return paragraphs(text.split("\n"), width)
    .flatMap((line) => {
      if (line === "" || !line.startsWith(" ")) isExample = line === EXAMPLES;
      return columnsOf(line) <= width ? [line] : fitLine(line, width, isExample);
    })
    .join("\n");
}

function fitLine(line: string, width: number, isExample: boolean): string[] {
  const indent = line.slice(0, line.length - line.trimStart().length);
  // Two columns: a term, an option or an example, and what it is.
  const gap = line.indexOf("  ", indent.length);
  if (gap !== -1) {
    const deeper = `${indent}${" ".repeat(DESCRIPTION_INDENT)}`;
    return [
      ...fitLine(line.slice(0, gap), width, isExample),
      ...indented(line.slice(gap).trim(), deeper, width),
    ];
  }
  if (columnsOf(line) <= width) return [line];
  if (!isExample) return indented(line.trim(), indent, width);
  const rows = wrap(line.trim(), width - indent.length - DESCRIPTION_INDENT);
  return rows.map((row, at) => {
    const isQuoted = (rows.slice(0, at).join(" ").match(/"/gu)?.length ?? 0) % 2 === 1;
    const end = at === rows.length - 1 ? "" : " \\";
    const start = at === 0 ? indent : `${indent}  `;
    // In a quotation an indent would be part of the text; and the name of a package may need the whole width.
    const isFlush = isQuoted || columnsOf(`${start}${row}${end}`) > width;
    return `${isFlush ? "" : start}${row}${end}`;
  });
}

function indented(text: string, indent: string, width: number): string[] {
  return wrap(text, width - indent.length).map((line) => `${indent}${line}`);
}

/** Joins the lines of a paragraph where they are wider than the terminal. */
function paragraphs(lines: readonly string[], width: number): string[] {
  const joined: string[] = [];
  let last = "";
  for (const line of lines) {
    const isProse = line !== "" && !line.startsWith(" ");
    const goesOn = isProse && !last.startsWith(" ") && columnsOf(last) > Math.max(width, LONG_LINE_COLUMNS);
    if (goesOn) joined.push(`${joined.pop() ?? ""} ${line}`);
    else joined.push(line);
    last = line;
  }
  return joined;
}
