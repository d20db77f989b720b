import { isBuiltin } from "node:module";
import type { Finding, ToolDefinition } from "@cem/core";
import { nearest } from "@cem/core/text";
import { findMissingImports, locationOf, lookUp, type Program, type SourceLocation } from "@cem/program";
import type { ProgramParts, Report } from "./collect.ts";
import { LOADERS, MAX_SPECIFIER_CHARACTERS, type Values } from "./values.ts";

const MAX_LINES = 5;

export function checkMissingImports(
  program: Program,
  { references }: ProgramParts,
  tools: readonly ToolDefinition[],
): Finding[] {
  // Most programs declare all their names and need no further check.
  const mayLack = references.some(
    ({ node, scope }) =>
      node.type === "Identifier" && !(node.name in globalThis) && lookUp(scope, node.name) === undefined,
  );
  if (!mayLack) return [];
  return [...findMissingImports(program, tools)].map(([name, imports]): Finding => {
    const lines = imports.slice(0, MAX_LINES).map(({ statement }) => `\`${statement}\``);
    const message = `${name} is not imported. Add ${lines.join(" or ")}.`;
    const { line, column } = imports[0] ?? {};
    return { rule: "missing-import", severity: "error", line, column, message };
  });
}

/** Built-in modules that start processes or debuggers. No sandbox allows them; the finding reports it early. */
const PROCESS_MODULES = new Set([
  "child_process",
  "cluster",
  "inspector",
  "inspector/promises",
  "worker_threads",
]);
/** Built-in modules that generate code from text. */
const CODE_MODULES = new Set(["vm", "repl"]);
const TEST_MODULE = /^node:test(?:\/|$)/;
const TEST_FUNCTION = /^global\.(?<name>Deno\.(?:test|bench))(?:\.|$)/;

/** The folder and name in `./servers/weather/index.ts`, `servers/weather` or `/workspace/skills/double/index.ts`. */
const TOOL_MODULE =
  /^(?:\.\/|\/workspace\/|file:\/\/\/workspace\/)?(?<folder>servers|skills)\/(?<name>[^/]+)/;

/** Maximum number of names listed if none is similar. */
const MAX_LISTED = 12;
const MAX_SUGGESTIONS = 10;

type RuntimeImport = SourceLocation & { specifier: string };
type ImportProblem = Pick<Finding, "rule" | "message" | "hint">;

/** Reports the imports that can't work or are not allowed. Type-only imports are removed at run time and not checked. */
export function checkImports(
  program: Program,
  parts: ProgramParts,
  values: Values,
  tools: readonly ToolDefinition[],
): Finding[] {
  const imports: RuntimeImport[] = [
    ...program.imports.filter(({ typeOnly }) => !typeOnly),
    ...loadedModules(parts, values),
  ];
  if (imports.length === 0) return [];
  const known = { servers: new Set<string>(), skills: new Set<string>(), suggested: 0 };
  for (const { kind, server } of tools) known[kind === "skill" ? "skills" : "servers"].add(server);
  return imports.flatMap(({ specifier, line, column }): Finding[] => {
    const problem = specifierProblem(specifier, known) ?? unknownToolModule(specifier, known);
    return problem === undefined ? [] : [{ severity: "error", line, column, ...problem }];
  });
}

/** The modules that the program loads by `import(…)`, `require(…)` and the like, including names that it concatenates. */
function loadedModules({ dynamicImports, calls }: ProgramParts, values: Values): RuntimeImport[] {
  const sources = [...dynamicImports, ...calls].flatMap(({ node, scope }) => {
    if (node.type === "ImportExpression") return [{ node: node.source, scope }];
    if (node.type !== "CallExpression" && node.type !== "OptionalCallExpression") return [];
    const [source] = node.arguments;
    const loads = source !== undefined && LOADERS.has(values.originOf(node.callee, scope));
    return loads ? [{ node: source, scope }] : [];
  });
  return sources.flatMap(({ node, scope }) => {
    const specifier = values.textOf(node, scope);
    return specifier === undefined ? [] : [{ specifier, ...locationOf(node) }];
  });
}

/** Reports tests that no test runner would run, so that none counts as passed. */
export function checkTests({ calls }: ProgramParts, values: Values, report: Report): void {
  for (const { node, scope } of calls) {
    if (node.type !== "CallExpression" && node.type !== "OptionalCallExpression") continue;
    const { name } = TEST_FUNCTION.exec(values.originOf(node.callee, scope) ?? "")?.groups ?? {};
    if (name !== undefined) report.add(node, { severity: "error", ...testProblem(name) });
  }
}

function testProblem(name: string): ImportProblem {
  return {
    rule: "no-test-runner",
    message: `${name} registers tests, and nothing here runs them.`,
    hint: "Call the assertions of node:assert at the top level.",
  };
}

function specifierProblem(specifier: string, { servers }: Known): ImportProblem | undefined {
  const isText = /^(?:data|blob):/.test(specifier);
  if (specifier.length > MAX_SPECIFIER_CHARACTERS && !isText) {
    const message = `A module's name has ${specifier.length} characters; at most ${MAX_SPECIFIER_CHARACTERS} are read.`;
    return { rule: "no-packages", message };
  }
  if (specifier.startsWith("node:") || isBuiltin(specifier)) {
    if (TEST_MODULE.test(specifier)) return testProblem(specifier);
    const name = specifier.replace(/^node:/u, "");
    if (CODE_MODULES.has(name)) {
      const message = `${specifier} makes code from text.`;
      return { rule: "code-from-text", message, hint: "Write the code out." };
    }
    if (!PROCESS_MODULES.has(name)) return undefined;
    const message = `${specifier} can't be used: code here can't start processes or debuggers.`;
    return { rule: "process-module", message };
  }
  if (isText) {
    const message = "Code can't be imported from text.";
    return { rule: "code-from-text", message, hint: "Write it into the program." };
  }
  const elsewhere = /^(?:\.\.|@)?\/((?:servers|skills)\/.*)/u.exec(specifier)?.[1];
  if (elsewhere !== undefined) {
    return {
      rule: "no-packages",
      message: `${JSON.stringify(specifier)} can't be imported: programs stand beside servers/ and skills/.`,
      hint: `Write ${JSON.stringify(`./${elsewhere}`)}.`,
    };
  }
  if (/^(?:\.{0,2}\/|file:\/\/\/workspace\/|(?:servers|skills)\/)/.test(specifier)) return undefined;
  const last = specifier.slice(specifier.lastIndexOf("/") + 1).replace(/\.[cm]?[jt]s$/u, "");
  return {
    rule: "no-packages",
    ...(servers.has(last) && { hint: `Write "./servers/${last}/index.ts".` }),
    message: `${JSON.stringify(specifier)} can't be imported. Code may import tools (./servers/<server>/index.ts), skills (./skills/<name>/index.ts), files of the workspace (./…) and built-in modules (node:…).`,
  };
}

/** Names that imports of tools and skills may use, and the number of suggestions made for unknown ones. */
interface Known {
  servers: ReadonlySet<string>;
  skills: ReadonlySet<string>;
  suggested: number;
}

function unknownToolModule(specifier: string, known: Known): ImportProblem | undefined {
  const { folder, name = "" } = TOOL_MODULE.exec(specifier)?.groups ?? {};
  if (folder !== "servers" && folder !== "skills") return undefined;
  if (known[folder].has(name)) return undefined;
  const what = folder === "servers" ? "server" : "skill";
  return {
    rule: `unknown-${what}`,
    message: `There is no ${what} "${name}" with usable tools.${suggestionFor(name, folder, known)}`,
    ...(what === "skill" && { hint: "One that code saved is a proposal until a person approves it." }),
  };
}

/** Suggests similar names, or lists all if there are few. Only for the first unknown names, since there may be thousands of both. */
function suggestionFor(name: string, folder: "servers" | "skills", known: Known): string {
  if (known.suggested === MAX_SUGGESTIONS) return "";
  known.suggested += 1;
  const near = nearest(name, known[folder]);
  if (near.length > 0) return ` Did you mean ${near.join(" or ")}?`;
  const all = [...known[folder]];
  return all.length > 0 && all.length <= MAX_LISTED ? ` There are ${all.toSorted().join(", ")}.` : "";
}
