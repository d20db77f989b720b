import ts from "typescript";
import { planServerFiles } from "../../src/folder/plan-server-files.ts";
import { LOCK_FILE, nameServerFolders, type ServerLock } from "../../src/index.ts";
import { toDefinition, type Row } from "./rows.ts";

const SMALL_SCHEMA_BYTES = 2_048;
const SMALL_SCHEMA_LIMIT_BYTES = 20 * 1_024;
const LIMIT_BYTES = 1_024 * 1_024;

/** A generated file, by its place under `servers/`. */
export interface Module {
  file: string;
  code: string;
}

export interface Generated {
  modules: Module[];
  locks: Map<string, ServerLock>;
  skipped: number;
  warnings: number;
  /** Module size by schema size, of schemas of at least 500 bytes. */
  largestGrowth: number;
  problems: string[];
}

/** Plans the files of every server of the rows, and checks their statements and sizes. */
export function generateAll(rows: readonly Row[]): Generated {
  const generated: Generated = {
    modules: [],
    locks: new Map(),
    skipped: 0,
    warnings: 0,
    largestGrowth: 0,
    problems: [],
  };
  const folders = nameServerFolders([...new Set(rows.map((row) => row.server))]);
  for (const [server, folder] of folders) {
    const definitions = rows.filter((row) => row.server === server).map(toDefinition);
    const plan = planServerFiles({ server, definitions });
    generated.locks.set(server, plan.lock);
    generated.skipped += plan.skipped.length;
    generated.warnings += plan.warnings.length;
    for (const [file, code] of plan.files) {
      if (file !== LOCK_FILE) generated.modules.push({ file: `${folder}/${file}`, code });
    }
    for (const tool of plan.lock.tools) {
      const code = plan.files.get(tool.file) ?? "";
      const { inputSchema, outputSchema } = tool.definition;
      const size = Buffer.byteLength(JSON.stringify([inputSchema, outputSchema]));
      const bytes = Buffer.byteLength(code);
      if (size >= 500) generated.largestGrowth = Math.max(generated.largestGrowth, bytes / size);
      const limit = size <= SMALL_SCHEMA_BYTES ? SMALL_SCHEMA_LIMIT_BYTES : LIMIT_BYTES;
      const place = `${server}/${tool.definition.name}`;
      if (bytes > limit) generated.problems.push(`${place}: ${bytes} bytes from ${size}`);
      generated.problems.push(...checkStatements(code, tool.name).map((problem) => `${place}: ${problem}`));
    }
  }
  return generated;
}

/** The module holds one import, types, and one exported function whose body is one call; nothing else. */
function checkStatements(code: string, identifier: string): string[] {
  const source = ts.createSourceFile("tool.ts", code, ts.ScriptTarget.ESNext, true);
  const [imports, ...others] = source.statements;
  const problems: string[] = [];
  if (imports === undefined || !ts.isImportDeclaration(imports)) problems.push("the import is not first");
  const functions = others.filter(ts.isFunctionDeclaration);
  const rest = others.filter((statement) => !ts.isFunctionDeclaration(statement));
  if (functions.length !== 1 || functions[0]?.name?.text !== identifier)
    problems.push(`does not export ${identifier}`);
  if (functions[0]?.body?.statements.length !== 1) problems.push("the function has more than one statement");
  for (const statement of rest) {
    if (!ts.isInterfaceDeclaration(statement) && !ts.isTypeAliasDeclaration(statement)) {
      problems.push(`has a statement of its own: ${statement.getText().slice(0, 80)}`);
    }
  }
  const output = ts.transpileModule(code, {
    compilerOptions: { target: ts.ScriptTarget.ESNext, removeComments: true },
  });
  if (output.outputText.trim().split("\n").length > 4)
    problems.push("leaves more than one function at run time");
  return problems;
}
