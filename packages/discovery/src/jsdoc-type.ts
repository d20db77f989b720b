import type { TSType } from "@babel/types";
import { parseProgram } from "@cem/program";

const MAX_TYPE_CHARACTERS = 2_000;

/** Parses a JSDoc type, such as `?string` or `Array.<number>`; `undefined` when it is no valid type. */
export function parseJsDocType(text: string): TSType | undefined {
  if (text.length > MAX_TYPE_CHARACTERS) return undefined;
  const parsed = parseProgram(`type T = ${toTypeScript(text)};`);
  const statement = parsed.ok ? parsed.program.ast.program.body[0] : undefined;
  return statement?.type === "TSTypeAliasDeclaration" ? statement.typeAnnotation : undefined;
}

function toTypeScript(text: string): string {
  const plain = text
    .replace(/^\.\.\./, "")
    .replace(/[=!]$/, "")
    .replace(/^!/, "")
    .replaceAll(".<", "<")
    .replaceAll(/\b(?:Object|object)\b(?!\s*<)/g, "object")
    .replaceAll(/\bObject\s*</g, "Record<");
  if (plain === "*" || plain === "?") return "unknown";
  return plain.startsWith("?") ? `${plain.slice(1)} | null` : plain;
}
