import { concat, group, indent, layOut, line } from "./document.ts";
import { printExpression, quote } from "./print-expression.ts";
import type { Program, Statement } from "./statement.ts";

/** A program as TypeScript, laid out the way prettier does. */
export function printProgram(program: Program): string {
  const sections: string[] = [];
  if (program.imports.size > 0) sections.push(printImports(program));
  sections.push(...program.helpers);
  if (program.statements.length > 0) sections.push(printStatements(program.statements, 0));
  if (program.value !== undefined)
    sections.push(layOut(concat("export default ", printExpression(program.value), ";")));
  return `${sections.join("\n\n")}\n`;
}

function printImports(program: Program): string {
  const isNode = (module: string): number => (module.startsWith("node:") ? 0 : 1);
  return [...program.imports]
    .toSorted(([a], [b]) => isNode(a) - isNode(b) || (a < b ? -1 : 1))
    .map(([module, names]) => `import { ${[...names].toSorted().join(", ")} } from ${quote(module)};`)
    .join("\n");
}

function printStatements(statements: readonly Statement[], depth: number): string {
  return statements.map((statement) => printStatement(statement, depth)).join("\n");
}

function printStatement(statement: Statement, depth: number): string {
  const pad = "  ".repeat(depth);
  switch (statement.kind) {
    case "const":
    case "let": {
      const type = statement.type === undefined ? "" : `: ${statement.type}`;
      const head = `${statement.kind} ${statement.name}${type} =`;
      const value = printExpression(statement.value);
      if (statement.value.kind === "conditional")
        return pad + layOut(group(head, indent(line, value), ";"), depth);
      const breaksItself = statement.value.kind !== "binary" && statement.value.kind !== "literal";
      return (
        pad +
        layOut(breaksItself ? concat(head, " ", value, ";") : group(head, indent(line, value), ";"), depth)
      );
    }
    case "assign":
      return (
        pad +
        layOut(concat(printExpression(statement.target), " = ", printExpression(statement.value), ";"), depth)
      );
    case "do":
      return pad + layOut(concat(printExpression(statement.value), ";"), depth);
    case "throw":
      return pad + layOut(concat("throw new Error(", printExpression(statement.message), ");"), depth);
    case "save":
    case "saved-by-here":
      return "";
    case "comment":
      return `${pad}// ${statement.text.replaceAll(/[^\x20-\x7E]+/gu, " ")}`;
    case "if": {
      const test = layOut(concat("if (", printExpression(statement.test), ") {"), depth);
      const body = printStatements(statement.body, depth + 1);
      const head = `${pad}${test}\n${body}\n${pad}}`;
      return statement.otherwise.length === 0
        ? head
        : `${head} else {\n${printStatements(statement.otherwise, depth + 1)}\n${pad}}`;
    }
  }
}
