import { stripVTControlCharacters } from "node:util";

/** What ends a line in some reader of the text. */
const LINE_END = /\r\n?|[\n\v\f\u0085\u2028\u2029]/g;
/** Control characters, and everything that is not seen: zero-width, direction marks, tags, variation selectors. */
const UNSEEN = /[\p{Cf}\p{DI}\p{Co}\p{Noncharacter_Code_Point}]|(?![\n\t])\p{Cc}/gu;

/** Nothing in it that would have to be changed. */
const PLAIN = /^[\n\t\x20-\x7E]*$/;

/** Text as a reader sees it: no escape sequences, nothing invisible, `\n` as the only line end, no broken characters. */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) return text;
  return stripVTControlCharacters(text).replace(LINE_END, "\n").replace(UNSEEN, "").toWellFormed();
}

/** Shortens to at most `limit` characters, at a word's end where one is near, with `…` to show it. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, "");
  const space = cut.lastIndexOf(" ");
  return `${(space > limit * 0.7 ? cut.slice(0, space) : cut).trimEnd()}…`;
}

/** Foreign text on one line, for a comment. */
export function commentLine(text: string, limit: number): string {
  const visible = visibleText(text.length > limit * 8 ? text.slice(0, limit * 8) : text);
  const line = /\s\s|[\n\t]/.test(visible) ? visible.replace(/\s+/g, " ") : visible;
  return harmlessInComment(clip(line.trim(), limit));
}

/**
 * Makes visible text harmless inside a block comment: it can't end the comment, start a tag or a compiler's directive
 * (`@ts-ignore`), or name a source map. Lines are kept.
 */
export function harmlessInComment(text: string): string {
  if (!/[@*=]/.test(text)) return text;
  return text
    .replaceAll("*/", String.raw`*\/`)
    .replaceAll(/(?<![\w.+-])@/g, String.raw`\@`)
    .replaceAll(/(source(?:Mapping)?URL)=/gi, "$1 =");
}

/** A string literal. What can't be seen, or ends a line for some reader, is escaped. */
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

/** A property's name as it stands in a type: bare where it is an ASCII identifier, else quoted. */
export function propertyKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== "__proto__" ? name : quote(name);
}
