import { copyWholeWords, type ToolFlag } from "@cem/core";

/** Characters that some program treats as the end of a line. */
const LINE_END = /\r\n?|[\n\v\f\u0085\u2028\u2029]/g;
/** Control and invisible characters: zero-width, direction marks, tags, variation selectors. */
const UNSEEN = /[\p{Cf}\p{DI}\p{Co}\p{Noncharacter_Code_Point}]|(?![\n\t])\p{Cc}/gu;

const PLAIN = /^[\n\t\x20-\x7E]*$/;

/** Removes escape sequences, invisible characters and lone surrogates, and writes every line end as `\n`. */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) return text;
  // Loaded lazily: that takes as long as loading this whole package, and few texts need it.
  const { stripVTControlCharacters } = process.getBuiltinModule("node:util");
  return stripVTControlCharacters(text).replace(LINE_END, "\n").replace(UNSEEN, "").toWellFormed();
}

/** Shortens a text at the end of a word if one is near. Grouped numbers stay whole, since redaction comes afterwards. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = copyWholeWords(text, limit - 1).replace(/\uFFFD$/, "");
  const space = cut.lastIndexOf(" ");
  return `${(space > limit * 0.7 ? cut.slice(0, space) : cut).trimEnd()}…`;
}

/** Writes untrusted text on one line for a comment. */
export function commentLine(text: string, limit: number): string {
  const visible = visibleText(text.length > limit * 8 ? text.slice(0, limit * 8) : text);
  const line = /\s\s|[\n\t]/.test(visible) ? visible.replace(/\s+/g, " ") : visible;
  return harmlessInComment(clip(line.trim(), limit));
}

/** Escapes visible text so that it can't end a block comment, start a tag or compiler directive, or name a source map. */
export function harmlessInComment(text: string): string {
  if (!/[@*=]/.test(text)) return text;
  return text
    .replaceAll("*/", String.raw`*\/`)
    .replaceAll(/(?<![\w.+-])@/g, String.raw`\@`)
    .replaceAll(/(source(?:Mapping)?URL)=/gi, "$1 =");
}

/** Writes a text as a string literal, with invisible characters and line separators escaped. */
export function quote(text: string): string {
  const literal = JSON.stringify(text);
  if (PLAIN.test(literal)) return literal;
  return literal.replace(/[\p{Cc}\p{Cf}\p{DI}\p{Co}\p{Zl}\p{Zp}]/gu, escapeCharacter);
}

function escapeCharacter(character: string): string {
  let escaped = "";
  for (let index = 0; index < character.length; index += 1) {
    escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }
  return escaped;
}

/** Writes the name of a property: unquoted if it is an ASCII identifier. */
export function propertyKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== "__proto__" ? name : quote(name);
}

/** Puts `[flagged: <rules>]` before a text in which `inspectDescription` found something. */
export function markFlagged(text: string, flags: readonly ToolFlag[]): string {
  if (flags.length === 0) return text;
  const rules = [...new Set(flags.map(({ rule }) => rule))].join(", ");
  return `[flagged: ${rules}] ${text}`;
}

/** Replaces invisible characters, except line feeds, by their code points: `<U+200B>`. */
export function escapeInvisible(text: string): string {
  return text.replace(
    /(?!\n)[\p{Cc}\p{Cf}\p{DI}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`,
  );
}
