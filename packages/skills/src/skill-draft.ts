import { CemError, holdsRedactionToken, type SkillDraft, type ToolDefinition } from "@cem/core";
import { nameOf, parseProgram, visitNodes, withoutFence, type Program } from "@cem/program";

const NAME = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/u;
/** Folders that the catalog skips. */
const UNUSABLE_NAMES = new Set(["node_modules", "vendor"]);
const MAX_NAME_CHARACTERS = 64;
const MAX_DESCRIPTION_CHARACTERS = 1_024;
const MAX_TEXT_CHARACTERS = 256 * 1_024;

/** @throws CemError `SKILL_INVALID` for a name that can't be a skill's. */
export function requireSkillName(name: unknown): string {
  const isName = typeof name === "string" && name.length <= MAX_NAME_CHARACTERS && NAME.test(name);
  if (isName) return name;
  throw new CemError(
    "SKILL_INVALID",
    `${JSON.stringify(name)} can't be a skill's name: it needs lower-case letters and digits, joined by - or _, at most ${MAX_NAME_CHARACTERS} characters.`,
    { details: { skill: String(name) } },
  );
}

/** @throws CemError `SKILL_INVALID`, also for a name that the server of a tool has. */
export function parseDraft(draft: SkillDraft, tools: readonly ToolDefinition[]) {
  const name = requireSkillName(draft.name);
  if (tools.some(({ kind, server }) => kind !== "skill" && server === name)) {
    throw invalid(name, `"${name}" is the name of a server, so a skill needs another`);
  }
  if (UNUSABLE_NAMES.has(name))
    throw invalid(
      name,
      `a folder named "${name}" is for packages and never a skill, so it needs another name`,
    );
  const description = textOf(draft, "description", MAX_DESCRIPTION_CHARACTERS);
  if (description.trim() === "")
    throw invalid(name, "its description is empty: say what the skill does and when");
  if (draft.instructions !== undefined) textOf(draft, "instructions", MAX_TEXT_CHARACTERS);
  const code = parse(draft, "code");
  const test = parse(draft, "test");
  const texts = [draft.code, draft.test, description, draft.instructions ?? ""];
  if (texts.some((text) => holdsRedactionToken(text))) {
    throw invalid(
      name,
      "it holds a value that is kept from the model, which means nothing in another session: pass it as an argument",
    );
  }
  if (exportedNames(code).length === 0) {
    throw invalid(name, "its code exports nothing by name: write `export async function …`");
  }
  const importsIt = [...test.imports, ...test.dynamicImports].some(({ specifier }) =>
    specifier.replaceAll("\\", "/").includes(`skills/${name}`),
  );
  if (!importsIt)
    throw invalid(
      name,
      `its test does not import it: begin with import { … } from "./skills/${name}/index.ts"`,
    );
  return { code, test };
}

/** The names of the values that a module exports. */
export function exportedNames({ ast }: Program): string[] {
  return ast.program.body.flatMap((statement) => {
    if (statement.type !== "ExportNamedDeclaration" || statement.exportKind === "type") return [];
    const { declaration } = statement;
    if (declaration == null) return statement.specifiers.map(({ exported }) => nameOf(exported));
    if (declaration.type === "VariableDeclaration") {
      return declaration.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
    }
    const isValue = declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration";
    return isValue && declaration.id != null ? [declaration.id.name] : [];
  });
}

function invalid(name: unknown, reason: string): CemError {
  return new CemError("SKILL_INVALID", `The skill can't be saved: ${reason}.`, {
    details: { skill: String(name) },
  });
}

function parse(draft: SkillDraft, part: "code" | "test"): Program {
  const text = withoutFence(textOf(draft, part, MAX_TEXT_CHARACTERS));
  if (text.trim() === "") {
    throw invalid(
      draft.name,
      part === "test"
        ? "it has no test: write a program that imports it and throws where it is wrong"
        : "it has no code",
    );
  }
  const parsed = parseProgram(text);
  if (parsed.ok) return parsed.program;
  const { message, line } = parsed.error;
  const place = line === undefined ? "" : `, line ${line}`;
  throw invalid(draft.name, `its ${part} can't be parsed${place}: ${message}`);
}

function textOf(draft: SkillDraft, part: "description" | "code" | "test" | "instructions", most: number) {
  const text: unknown = draft[part];
  if (typeof text !== "string") throw invalid(draft.name, `its ${part} must be text`);
  if (text.length <= most) return text;
  throw invalid(draft.name, `its ${part} has ${text.length} characters, and ${most} are allowed`);
}

/** `./servers/x`, `servers/x` or `/workspace/servers/x`, as written in a program. */
const FROM_PROGRAM =
  /^(?:\.\/|\/workspace\/|file:\/\/\/workspace\/)?(?<path>(?:servers|skills|client)\/.+)$/u;
/** `../../servers/x`, as written in a file two folders below the workspace. */
const FROM_SKILL = /^(?:\.\.\/\.\.\/(?<path>(?:servers|skills|client)\/.+)|\.\.\/(?<skill>[^./][^/]*\/.+))$/u;

/** The path below the workspace of a module that a skill's code or a program imports. */
export function workspacePathOf(specifier: string): string | undefined {
  const fromSkill = FROM_SKILL.exec(specifier)?.groups;
  if (fromSkill?.["skill"] !== undefined) return `skills/${fromSkill["skill"]}`;
  return fromSkill?.["path"] ?? FROM_PROGRAM.exec(specifier)?.groups?.["path"];
}

/** Rewrites the imports of a program for a file of a skill. */
export function toSkillFile(program: Program): string {
  return rewrite(program, (path) => `../../${path}`);
}

/** Rewrites the imports of a skill's file for a program. Code that can't be parsed is left unchanged. */
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

/** The module specifiers that a program imports, including type imports, in order, with their positions inside the quotes. */
function specifiersOf({ ast }: Program) {
  const found: { value: string; start: number; end: number }[] = [];
  for (const { node } of visitNodes(ast.program, () => true)) {
    const source = "source" in node ? node.source : undefined;
    if (source == null || typeof source !== "object" || !("type" in source)) continue;
    if (source.type !== "StringLiteral" || source.start == null || source.end == null) continue;
    found.push({ value: source.value, start: source.start + 1, end: source.end - 1 });
  }
  return found.toSorted((one, other) => one.start - other.start);
}
