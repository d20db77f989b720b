import { holdsRedactionToken } from "@cem/core";
import type { JsonValue, SkillDraft } from "@cem/core";
import { parseProgram } from "@cem/program";
import type { Program } from "@cem/program";

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
