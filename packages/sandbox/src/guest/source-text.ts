import { stripTypeScriptTypes } from "node:module";

const TYPESCRIPT = /\.[cm]?ts$/;
const SOURCE_MAP = "\n//# sourceMappingURL=";
const COMMENT = /\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|\/\/[^\n]*/g;
const RE_EXPORT = /^export(\s+type)?\s*\{([^{}]*)\}\s*from\s*["']([^"'\n]*)["']$/;
const NAMES = /^([\w$]+)(?:\s+as\s+([\w$]+))?$/;
const WORD = /[\w$]+/g;
const IMPORT = /^[ \t]*import\s*\{([^{}]*)\}\s*from\s*["'][^"'\n]*["'];?/gm;

/** JavaScript, and its source map as a `data:` URL where positions are not the same as in the source. */
interface Compiled {
  code: string;
  sourceMap?: string | undefined;
}

/** Removes the types of a module. Keeps all positions if possible. */
export function withoutTypes(text: string): Compiled {
  try {
    return { code: stripTypeScriptTypes(text, { mode: "strip" }) };
  } catch {
    // Syntax beyond types, such as an enum, is transformed, which moves the code after it. A syntax error is rethrown.
    const moved = stripTypeScriptTypes(text, { mode: "transform", sourceMap: true });
    // The last, since a text in the code may look like it.
    const end = moved.lastIndexOf(SOURCE_MAP);
    return { code: moved.slice(0, end), sourceMap: moved.slice(end + SOURCE_MAP.length) };
  }
}

/** Cache of JavaScript by source text: the runs of a session import the same tools. */
const translated = new Map<string, Compiled>();
const MAX_TRANSLATED = 64;
const MAX_KEPT_CHARACTERS = 32 * 1024;

/** Converts a module, from disk or from a URL, to JavaScript. */
export function toJavaScript(text: string, path: string): Compiled {
  if (!TYPESCRIPT.test(path)) return { code: text };
  const known = translated.get(text);
  if (known !== undefined) return known;
  const { code, sourceMap } = withoutTypes(text);
  const compiled = { code: withoutTypeImports(code), sourceMap };
  if (translated.size === MAX_TRANSLATED) translated.clear();
  if (text.length <= MAX_KEPT_CHARACTERS) translated.set(text, compiled);
  return compiled;
}

/** Removes imported names that are unused once the types are removed, as TypeScript does. */
function withoutTypeImports(code: string): string {
  const words: string[] = code.match(WORD) ?? [];
  return code.replaceAll(IMPORT, (statement, list: string) => {
    const kept = list.split(",").filter((part) => {
      const [, name, local = name] = NAMES.exec(part.trim()) ?? [];
      return local === undefined || words.indexOf(local) !== words.lastIndexOf(local);
    });
    return statement.replace(list, () => kept.join(",").padEnd(list.length));
  });
}

/** The exports of a module that consists of `export { … } from "…";` alone, as the index of a server does. `undefined` for any other. */
export function reExports(code: string): Map<string, { name: string; file: string }> | undefined {
  const found = new Map<string, { name: string; file: string }>();
  for (const statement of code.replaceAll(COMMENT, " ").split(";")) {
    const text = statement.trim();
    const [, isType, list, file] = RE_EXPORT.exec(text) ?? [];
    if (list === undefined && text !== "") return undefined;
    if (list === undefined || file === undefined || isType !== undefined) continue;
    for (const part of list.split(",")) {
      const [, name, exported = name] = NAMES.exec(part.trim()) ?? [];
      if (name !== undefined && exported !== undefined) found.set(exported, { name, file });
    }
  }
  return found;
}

/** Its strings can't contain anything that looks like a comment. */
const ONE_CALL =
  /^import \{ callTool \} from "\.\.\/\.\.\/client\/index\.ts"; export async function ([\w$]+)\(input(?: = \{\})?\) \{ return callTool\("([\w.-]+)", "([\w.-]+)", input\); \}$/;

/** The call that a generated module's function of this name makes. `undefined` when the module contains anything else. */
export function generatedCall(text: string, name: string): { server: string; tool: string } | undefined {
  const code = toJavaScript(text, ".ts").code.replaceAll(COMMENT, " ").replaceAll(/\s+/g, " ");
  const plain = code.trim().replaceAll(/ (?=[(),;])/g, "");
  const [, exported, server = "", tool = ""] = ONE_CALL.exec(plain) ?? [];
  return exported === name ? { server, tool } : undefined;
}
