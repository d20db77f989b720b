import { parseProgram, visitNodes } from "@cem/program";
import type { Program } from "@cem/program";

/** `./servers/x`, `servers/x` or `/workspace/servers/x`, as a program writes it. */
const FROM_PROGRAM =
  /^(?:\.\/|\/workspace\/|file:\/\/\/workspace\/)?(?<path>(?:servers|skills|client)\/.+)$/u;
/** `../../servers/x`, as a file two folders below the workspace writes it. */
const FROM_SKILL = /^(?:\.\.\/\.\.\/(?<path>(?:servers|skills|client)\/.+)|\.\.\/(?<skill>[^./][^/]*\/.+))$/u;

/** The modules that a program imports, with their places in its text. */
interface Specifier {
  value: string;
  /** Where the text between the quotes begins and ends. */
  start: number;
  end: number;
}

/** The path below the workspace of a module that a skill's code or a program imports. */
export function workspacePathOf(specifier: string): string | undefined {
  const fromSkill = FROM_SKILL.exec(specifier)?.groups;
  if (fromSkill?.["skill"] !== undefined) return `skills/${fromSkill["skill"]}`;
  return fromSkill?.["path"] ?? FROM_PROGRAM.exec(specifier)?.groups?.["path"];
}

/** Rewrites the imports of a program as a file of a skill has to write them. */
export function toSkillFile(program: Program): string {
  return rewrite(program, (path) => `../../${path}`);
}

/** Rewrites the imports of a skill's file as a program writes them. Code that can't be parsed is left as it is. */
export function toProgramCode(code: string): string {
  const parsed = parseProgram(code);
  return parsed.ok ? rewrite(parsed.program, (path) => `./${path}`) : code;
}

function rewrite(program: Program, write: (path: string) => string): string {
  const { code } = program;
  const parts: string[] = [];
  let last = 0;
  for (const { value, start, end } of specifiersOf(program)) {
    const path = workspacePathOf(value);
    if (path === undefined) continue;
    parts.push(code.slice(last, start), write(path));
    last = end;
  }
  return [...parts, code.slice(last)].join("");
}

/** In the order of the text. Those of types are rewritten, too. */
function specifiersOf({ ast }: Program): Specifier[] {
  const found: Specifier[] = [];
  for (const { node } of visitNodes(ast.program, () => true)) {
    const source = "source" in node ? node.source : undefined;
    if (source == null || typeof source !== "object" || !("type" in source)) continue;
    if (source.type !== "StringLiteral" || source.start == null || source.end == null) continue;
    found.push({ value: source.value, start: source.start + 1, end: source.end - 1 });
  }
  return found.toSorted((one, other) => one.start - other.start);
}
