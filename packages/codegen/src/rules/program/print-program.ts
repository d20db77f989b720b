import { helperCode } from "./helpers.ts";
import { type Expression, indented, quote, type Statement } from "./expression.ts";

interface Program {
  /** Module to the names taken from it. */
  imports: ReadonlyMap<string, ReadonlySet<string>>;
  statements: readonly Statement[];
  value: Expression;
}

/** A program as TypeScript, with the helpers that it calls. */
export function printProgram({ imports, statements, value }: Program): string {
  const body = [printStatements(statements), `export default ${value.text};`];
  const sections = [printImports(imports), ...helperCode(body.join("\n")), ...body];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function printImports(imports: Program["imports"]): string {
  const isNode = (module: string): number => (module.startsWith("node:") ? 0 : 1);
  return [...imports]
    .toSorted(([a], [b]) => isNode(a) - isNode(b) || (a < b ? -1 : 1))
    .map(([module, names]) => `import { ${[...names].toSorted().join(", ")} } from ${quote(module)};`)
    .join("\n");
}

function printStatements(statements: readonly Statement[]): string {
  return statements.map(printStatement).join("\n");
}

function printStatement(statement: Statement): string {
  switch (statement.kind) {
    case "const":
      return `const ${statement.name} = ${statement.value.text};`;
    case "assign":
      return `${statement.target.text} = ${statement.value.text};`;
    case "do":
      return `${statement.value.text};`;
    case "comment":
      return `// ${statement.text.replaceAll(/[^\x20-\x7E]+/gu, " ")}`;
    case "if": {
      const head = `if (${statement.test.text}) ${printBlock(statement.body)}`;
      return statement.otherwise.length === 0 ? head : `${head} else ${printBlock(statement.otherwise)}`;
    }
  }
}

function printBlock(statements: readonly Statement[]): string {
  return statements.length === 0 ? "{\n}" : `{\n${indented(printStatements(statements))}\n}`;
}
