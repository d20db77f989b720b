import { indented, quote, type Expression, type Statement } from "./expression.ts";
import { HELPER_CODE } from "./helper-code.ts";

/** Helper functions that are included in a program on demand: their code by name. */
const HELPERS: ReadonlyMap<string, string> = new Map(
  HELPER_CODE.split("\n\n").map((code) => [/function (\w+)/u.exec(code)?.[1] ?? "", code.trim()]),
);

export const HELPER_NAMES: readonly string[] = [...HELPERS.keys()];

/** A string literal, in which a name is not a call. */
const STRING = /"(?:[^"\\]|\\[^])*\\?(?:"|$)/gu;

/** The code of the helpers that a program calls directly or indirectly, in list order. */
function helperCode(program: string): string[] {
  const wanted = new Set<string>();
  const wantCalled = (code: string): void => {
    for (const [name = ""] of code.matchAll(/\b\w+(?=\()/gu)) {
      const helper = HELPERS.get(name);
      if (helper === undefined || wanted.has(name)) continue;
      wanted.add(name);
      wantCalled(helper);
    }
  };
  wantCalled(program.replaceAll(STRING, '""'));
  return [...HELPERS].filter(([name]) => wanted.has(name)).map(([, code]) => code);
}

interface Program {
  imports: ReadonlyMap<string, ReadonlySet<string>>;
  statements: readonly Statement[];
  value: Expression;
}

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
  return statements.map(({ text }) => text).join("\n");
}

export function printBlock(statements: readonly Statement[]): string {
  return statements.length === 0 ? "{\n}" : `{\n${indented(printStatements(statements))}\n}`;
}
