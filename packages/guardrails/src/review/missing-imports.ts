import type { Finding, ToolDefinition } from "@cem/core";
import { findMissingImports } from "@cem/program";
import type { Program } from "@cem/program";
import type { ProgramParts } from "./collect.ts";
import { lookUp } from "./scopes.ts";

const MAX_LINES = 5;

/** Reports tools that are used and not imported, with the line to add. */
export function checkMissingImports(
  program: Program,
  { references }: ProgramParts,
  tools: readonly ToolDefinition[],
): Finding[] {
  // Most programs declare all their names, and need no further look.
  const mayLack = references.some(
    ({ node, scope }) =>
      node.type === "Identifier" && !(node.name in globalThis) && lookUp(scope, node.name) === undefined,
  );
  if (!mayLack) return [];
  return [...findMissingImports(program, tools)].map(([name, imports]): Finding => {
    const lines = imports.slice(0, MAX_LINES).map(({ statement }) => `\`${statement}\``);
    const message = `${name} is a tool and not imported. Add ${lines.join(" or ")}.`;
    const { line, column } = imports[0] ?? {};
    return { rule: "missing-import", severity: "error", line, column, message };
  });
}
