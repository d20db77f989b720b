import type { Statement } from "@babel/types";
import type { GuestError } from "@cem/core";
import { locationOf } from "./imports.ts";
import type { Program } from "./parse-program.ts";

/** Finds the first statement that a module may contain and a program, which runs as a function, may not. */
export function findUnsupported({ ast }: Program): GuestError | undefined {
  for (const outer of ast.program.body) {
    const exported = outer.type === "ExportNamedDeclaration" ? outer.declaration : undefined;
    const statement = exported ?? outer;
    const message = problemOf(statement);
    if (message !== undefined) return { name: "SyntaxError", message, ...locationOf(statement) };
  }
  return undefined;
}

function problemOf(statement: Statement): string | undefined {
  switch (statement.type) {
    case "TSExportAssignment":
      return "`export =` is not allowed in ES modules. Use `export default`.";
    case "TSImportEqualsDeclaration":
      return '`import … =` is not allowed in ES modules. Use `import … from "…"`.';
    case "TSNamespaceExportDeclaration":
      return "`export as namespace` is allowed in declaration files only.";
    case "TSModuleDeclaration":
      if (statement.declare === true) return undefined;
      return "A program can't contain a namespace. Use an object, a class or a separate module.";
    default:
      return undefined;
  }
}
