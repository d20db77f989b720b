import { printExpression, quote } from "./print-expression.ts";
import type { Program, Statement } from "./expression.ts";

/** A program as TypeScript. */
export function printProgram({ imports, helpers, statements, value }: Program): string {
  const sections = [
    imports.size > 0 ? printImports(imports) : "",
    ...helpers,
    statements.map((statement) => printStatement(statement, "")).join("\n"),
    `export default ${printExpression(value, "")};`,
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function printImports(imports: Program["imports"]): string {
  const isNode = (module: string): number => (module.startsWith("node:") ? 0 : 1);
  return [...imports]
    .toSorted(([a], [b]) => isNode(a) - isNode(b) || (a < b ? -1 : 1))
    .map(([module, names]) => `import { ${[...names].toSorted().join(", ")} } from ${quote(module)};`)
    .join("\n");
}

function printStatement(statement: Statement, pad: string): string {
  switch (statement.kind) {
    case "const":
      return `${pad}const ${statement.name} = ${printExpression(statement.value, pad)};`;
    case "assign":
      return `${pad}${printExpression(statement.target, pad)} = ${printExpression(statement.value, pad)};`;
    case "do":
      return `${pad}${printExpression(statement.value, pad)};`;
    case "throw":
      return `${pad}throw new Error(${printExpression(statement.message)});`;
    case "comment":
      return `${pad}// ${statement.text.replaceAll(/[^\x20-\x7E]+/gu, " ")}`;
    case "if": {
      const head = `${pad}if (${printExpression(statement.test)}) {\n${printBlock(statement.body, pad)}${pad}}`;
      return statement.otherwise.length === 0
        ? head
        : `${head} else {\n${printBlock(statement.otherwise, pad)}${pad}}`;
    }
  }
}

function printBlock(statements: readonly Statement[], pad: string): string {
  return statements.map((statement) => `${printStatement(statement, `${pad}  `)}\n`).join("");
}
