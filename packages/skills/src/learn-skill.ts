import { hash } from "node:crypto";
import { holdsRedactionToken, toolId } from "@cem/core";
import type { JsonValue, SkillDraft, ToolDefinition } from "@cem/core";
import { parseProgram } from "@cem/program";
import type { Program } from "@cem/program";
import { workspacePathOf } from "./skill-draft.ts";

const MAX_NAME_CHARACTERS = 48;
const MAX_RESULT_CHARACTERS = 20_000;
/** A run that worked. */
export interface LearnedRun {
  /** The task in the user's words. May be empty. */
  description: string;
  code: string;
  result: JsonValue;
}

/**
 * Makes a draft of a skill from a run that worked: a function that does the same, with a test that expects what it returned.
 *
 * @returns `undefined` for a run that returned nothing or too much, or whose code or result holds a value that was kept from
 *   the log.
 */
export function learnSkill({ description, code, result }: LearnedRun): SkillDraft | undefined {
  const parsed = parseProgram(code);
  const expected = JSON.stringify(result);
  if (!parsed.ok || result === null || expected.length > MAX_RESULT_CHARACTERS) return undefined;
  if (holdsRedactionToken(code) || holdsRedactionToken(expected)) return undefined;
  const name = nameFor(description, parsed.program);
  const body = toFunction(parsed.program, name.replaceAll("-", "_"), description);
  if (body === undefined) return undefined;
  const call = name.replaceAll("-", "_");
  return {
    name,
    description: description.trim() === "" ? `What ${name} did in an earlier session.` : description.trim(),
    code: body,
    test: `import { ${call} } from "./skills/${name}/index.ts";
const expected = ${JSON.stringify(expected)};
const value = JSON.stringify(await ${call}());
if (value !== expected) throw new Error(\`It returned \${value} and not \${expected}.\`);
`,
  };
}

/** The program as the body of a function, below its imports. */
function toFunction({ ast, code }: Program, name: string, description: string): string | undefined {
  const imports: string[] = [];
  const statements: string[] = [];
  let returns = false;
  const { body } = ast.program;
  for (const [at, statement] of body.entries()) {
    const text = code.slice(statement.start ?? 0, statement.end ?? 0);
    if (statement.type === "ImportDeclaration") imports.push(text);
    else if (statement.type === "ExportDefaultDeclaration") {
      const { declaration } = statement;
      statements.push(`return (${code.slice(declaration.start ?? 0, declaration.end ?? 0)});`);
      returns = true;
    } else if (statement.type.startsWith("Export")) return undefined;
    else if (at === body.length - 1 && statement.type === "ExpressionStatement" && !returns) {
      statements.push(
        `return (${code.slice(statement.expression.start ?? 0, statement.expression.end ?? 0)});`,
      );
      returns = true;
    } else {
      returns ||= statement.type === "ReturnStatement";
      statements.push(text);
    }
  }
  if (!returns) return undefined;
  const comment = description.trim() === "" ? "" : `/** ${description.trim().replaceAll("*/", "* /")} */\n`;
  const lines = statements.flatMap((text) => text.split("\n")).map((line) => `  ${line}`.trimEnd());
  return `${imports.join("\n")}\n\n${comment}export async function ${name}(): Promise<unknown> {\n${lines.join("\n")}\n}\n`.trimStart();
}

/** A name of the task's first words, else of the tools that the program imports. */
function nameFor(description: string, { imports }: Program): string {
  const tools = imports.flatMap(({ names }) => names.map(({ imported }) => imported));
  const words = (description.trim() === "" ? tools.join(" ") : description)
    .toLowerCase()
    .match(/[a-z0-9]+/gu);
  let name = "";
  for (const word of words ?? []) {
    const longer = name === "" ? word : `${name}-${word}`;
    if (longer.length > MAX_NAME_CHARACTERS) break;
    name = longer;
  }
  return name === "" || /^\d/u.test(name) ? `run-${name}`.replace(/-$/u, "") : name;
}

const DIGEST_CHARACTERS = 16;
const MODULE_FOLDER = /^(servers|skills)\/([^/]+)/u;

/** The tools of the catalog that code imports, in the order of the catalog. Code that can't be parsed uses none. */
export function toolsUsedBy(code: string, tools: readonly ToolDefinition[]): ToolDefinition[] {
  const parsed = parseProgram(code);
  if (!parsed.ok) return [];
  const used = new Map<string, Set<string>>();
  for (const { specifier, names } of parsed.program.imports) {
    const folder = MODULE_FOLDER.exec(workspacePathOf(specifier) ?? "")?.[0];
    if (folder === undefined) continue;
    const known = used.get(folder) ?? new Set();
    for (const { imported } of names) known.add(imported);
    used.set(folder, known);
  }
  return tools.filter((tool) => {
    const names = used.get(MODULE_FOLDER.exec(workspacePathOf(tool.module) ?? "")?.[0] ?? "");
    return names !== undefined && (names.has("*") || names.has(tool.name));
  });
}

/** A digest of what code can rely on in a tool. It changes when the tool does. */
export function toolDigest({ signature, description, inputSchema, outputSchema }: ToolDefinition): string {
  const definition = JSON.stringify([signature, description, inputSchema, outputSchema ?? null]);
  return hash("sha256", definition, "hex").slice(0, DIGEST_CHARACTERS);
}

/** `server.tool@digest …`, as a SKILL.md keeps it. */
export function formatToolDigests(tools: readonly ToolDefinition[]): string {
  return tools.map((tool) => `${toolId(tool)}@${toolDigest(tool)}`).join(" ");
}

/** The digests by tool that {@link formatToolDigests} wrote. */
export function parseToolDigests(text: string): Map<string, string> {
  const digests = new Map<string, string>();
  for (const each of text.split(/\s+/u)) {
    const at = each.lastIndexOf("@");
    if (at > 0) digests.set(each.slice(0, at), each.slice(at + 1));
  }
  return digests;
}

/** The tools of these digests that are gone or that changed. */
export function changedTools(
  digests: ReadonlyMap<string, string>,
  tools: readonly ToolDefinition[],
): string[] {
  const now = new Map(tools.map((tool) => [toolId(tool), tool] as const));
  return [...digests.keys()].filter((id) => {
    const tool = now.get(id);
    return tool === undefined || toolDigest(tool) !== digests.get(id);
  });
}
