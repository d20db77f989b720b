import type { Finding, ToolDefinition } from "@cem/core";
import type { SourceLocation, Program } from "@cem/program";
import { nearest } from "@cem/text";

/** Built-in modules that start processes or debuggers. No sandbox lets them work; the finding says so early. */
const PROCESS_MODULES = new Set(["child_process", "cluster", "inspector", "inspector/promises"]);

/** `./servers/weather/index.ts`, `/workspace/skills/double/index.ts`: the folder and the name in it. */
const TOOL_MODULE = /^(?:\.\/|\/workspace\/|file:\/\/\/workspace\/)(?<folder>servers|skills)\/(?<name>[^/]+)/;

interface Import extends SourceLocation {
  specifier: string;
}

/** What is wrong with where the code imports from. */
export function findImportFaults(program: Program, tools: readonly ToolDefinition[]): Finding[] {
  const imports: Import[] = [
    ...program.imports.filter(({ typeOnly }) => !typeOnly),
    ...program.dynamicImports,
  ];
  const known = {
    servers: new Set(tools.filter(({ kind }) => kind !== "skill").map(({ server }) => server)),
    skills: new Set(tools.filter(({ kind }) => kind === "skill").map(({ server }) => server)),
  };
  return imports.flatMap((one): Finding[] => {
    const fault = specifierFault(one.specifier) ?? unknownModule(one.specifier, known);
    if (fault === undefined) return [];
    return [{ severity: "error", line: one.line, column: one.column, ...fault }];
  });
}

type Fault = Pick<Finding, "rule" | "message">;

function specifierFault(specifier: string): Fault | undefined {
  if (specifier.startsWith("node:")) {
    if (!PROCESS_MODULES.has(specifier.slice("node:".length))) return undefined;
    return {
      rule: "process-module",
      message: `${specifier} can't be used: code here can't start processes or debuggers.`,
    };
  }
  if (specifier.startsWith("data:") || specifier.startsWith("blob:")) {
    return {
      rule: "code-from-text",
      message: "Code can't be imported from text. Write it into the program.",
    };
  }
  if (/^(?:\.{0,2}\/|file:\/\/\/workspace\/)/.test(specifier)) return undefined;
  return {
    rule: "no-packages",
    message: `${JSON.stringify(specifier)} can't be imported. Code may import tools (./servers/<server>/index.ts), skills (./skills/<name>/index.ts), files of the workspace (./…) and built-in modules (node:…).`,
  };
}

function unknownModule(
  specifier: string,
  known: { servers: ReadonlySet<string>; skills: ReadonlySet<string> },
): Fault | undefined {
  const { folder, name } = TOOL_MODULE.exec(specifier)?.groups ?? {};
  if ((folder !== "servers" && folder !== "skills") || name === undefined) return undefined;
  if (known[folder].has(name)) return undefined;
  const what = folder === "servers" ? "server" : "skill";
  const near = nearest(name, known[folder]);
  const suggestion = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
  return {
    rule: `unknown-${what}`,
    message: `There is no ${what} "${name}" with usable tools.${suggestion}`,
  };
}
