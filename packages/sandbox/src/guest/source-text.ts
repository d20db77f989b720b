import { stripTypeScriptTypes } from "node:module";

const TYPESCRIPT = /\.[cm]?ts$/;
const COMMENT = /\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|\/\/[^\n]*/g;
const RE_EXPORT = /^export(\s+type)?\s*\{([^{}]*)\}\s*from\s*["'][^"'\n]*["']$/;
const NAMES = /^([\w$]+)(?:\s+as\s+([\w$]+))?$/;
const IMPORT = /^[ \t]*import\s*\{([^{}]*)\}\s*from\s*["'][^"'\n]*["'];?/gm;

/** Code without types. */
export interface Stripped {
  code: string;
  /** The source map, as a `data:` URL, where removing the types has moved the code. */
  sourceMap?: string | undefined;
}

/** Removes the types of a module, so that every place stays where it was where that is possible. */
export function withoutTypes(text: string): Stripped {
  try {
    return { code: stripTypeScriptTypes(text, { mode: "strip" }) };
  } catch {
    // Syntax beyond types, such as an enum, is transformed, which moves the code after it. A syntax error is rethrown.
    const moved = stripTypeScriptTypes(text, { mode: "transform", sourceMap: true });
    const [code = "", sourceMap] = moved.split("\n//# sourceMappingURL=");
    return { code, sourceMap };
  }
}

/** JavaScript by the text that it was made of: the runs of a session import the same tools. */
const translated = new Map<string, string>();
const MAX_TRANSLATED = 64;
const MAX_KEPT_CHARACTERS = 32 * 1024;

/** JavaScript of a module as it is on disk or in a URL. */
export function toJavaScript(text: string, path: string): string {
  if (!TYPESCRIPT.test(path)) return text;
  const known = translated.get(text);
  if (known !== undefined) return known;
  const code = withoutTypeImports(withoutTypes(text).code);
  if (translated.size === MAX_TRANSLATED) translated.clear();
  if (text.length <= MAX_KEPT_CHARACTERS) translated.set(text, code);
  return code;
}

/** Leaves out imported names that nothing uses once the types are gone, as TypeScript does. */
function withoutTypeImports(code: string): string {
  return code.replaceAll(IMPORT, (statement, list: string) => {
    const parts = list.split(",");
    const kept = parts.filter((part) => {
      const match = NAMES.exec(part.trim());
      return match === null || usesOf(match[2] ?? match[1] ?? "", code) > 1;
    });
    if (kept.length === parts.length) return statement;
    return statement.replace(list, () => kept.join(",").padEnd(list.length));
  });
}

function usesOf(name: string, code: string): number {
  let count = 0;
  for (let at = code.indexOf(name); at !== -1 && count < 2; at = code.indexOf(name, at + name.length)) {
    const before = code[at - 1] ?? " ";
    const after = code[at + name.length] ?? " ";
    if (!/[\w$]/.test(before) && !/[\w$]/.test(after)) count += 1;
  }
  return count;
}

/**
 * Leaves out what nobody asks for of a module that consists of `export { … } from "…";` alone, as the index of a server does.
 *
 * @returns the statements that are left; `undefined` for any other module, and where a name is missing.
 */
export function trimmedIndex(code: string, names: readonly string[]): string[] | undefined {
  const missing = new Set(names);
  const kept: string[] = [];
  for (const statement of code.replaceAll(COMMENT, " ").split(";")) {
    const text = statement.trim();
    const [, isType, list] = RE_EXPORT.exec(text) ?? [];
    if (list === undefined && text !== "") return undefined;
    if (list === undefined || isType !== undefined) continue;
    const exported = list.split(",").map((part) => NAMES.exec(part.trim()) ?? []);
    const wanted = exported.filter(([, name = "", as = name]) => missing.delete(as));
    if (wanted.length > 0) kept.push(`${text};`);
  }
  return missing.size > 0 ? undefined : kept;
}

const ONE_EXPORT = /^export \{ ([\w$]+) \} from "(\.\/[\w$]+\.ts)";$/;
/** No string in it can hold what looks like a comment. */
const ONE_CALL =
  /^import \{ callTool \} from "\.\.\/\.\.\/client\/index\.ts"; export async function ([\w$]+)\(input(?: = \{\})?\) \{ return callTool\("([\w.-]+)", "([\w.-]+)", input\); \}$/;

/** The name and the file of a statement that exports one function of a file beside it. */
export function exportedFile(statement: string): { name: string; file: string } | undefined {
  const [, name = "", file = ""] = ONE_EXPORT.exec(statement) ?? [];
  return name === "" ? undefined : { name, file };
}

/** The call that a generated module's function of that name makes. `undefined` where the module holds anything else. */
export function generatedCall(text: string, name: string): { server: string; tool: string } | undefined {
  const code = toJavaScript(text, ".ts").replaceAll(COMMENT, " ").replaceAll(/\s+/g, " ");
  const plain = code.trim().replaceAll(/ (?=[(),;])/g, "");
  const [, exported, server = "", tool = ""] = ONE_CALL.exec(plain) ?? [];
  return exported === name ? { server, tool } : undefined;
}
