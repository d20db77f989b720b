import type { Comment, File, Node } from "@babel/types";

export interface DocComment {
  /** The text before the first tag: paragraphs separated by an empty line, each on one line. */
  summary: string;
  /** The block tags: `@param input.a The first number.` is {name: "param", text: "input.a The first number."}. */
  tags: readonly { name: string; text: string }[];
}

export interface ParameterTag {
  /** `a`, or `input.a` for a property. */
  name: string;
  /** The type in braces, as JSDoc writes it. */
  type?: string | undefined;
  optional: boolean;
  text: string;
}

const NO_COMMENT: DocComment = { summary: "", tags: [] };

const MAX_TEXT_CHARACTERS = 20_000;

/** Tags that are also read in the middle of a line, as TypeScript does, when a comment has only one. */
const TAG_WITHIN =
  /[ \t](?=@(?:arg|param|returns?|deprecated|default|readOnly|destructive|idempotent|openWorld)(?:Hint)?(?:\s|$))/giu;

/** Parses the inside of a block comment. Tags in fenced code blocks are text. */
function parseDocComment(inside: string): DocComment {
  const text = inside.slice(0, MAX_TEXT_CHARACTERS).replace(/^\*/, "");
  const lines = (text.includes("\n") ? text : text.replaceAll(TAG_WITHIN, "\n"))
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*\*? ?/, "").trimEnd());
  const blocks: { name: string; lines: string[] }[] = [{ name: "", lines: [] }];
  let isInFence = false;
  for (const line of lines) {
    const tag = isInFence ? null : /^\s*@([A-Za-z][\w-]*)(?:\s+(\S.*)?)?$/.exec(line);
    if (line.trimStart().startsWith("```")) isInFence = !isInFence;
    if (tag) blocks.push({ name: tag[1] ?? "", lines: [tag[2] ?? ""] });
    else blocks.at(-1)?.lines.push(line);
  }
  const [summary, ...tags] = blocks.map(({ name, lines }) => ({ name, text: toParagraphs(lines) }));
  return { summary: summary?.text ?? "", tags };
}

/** The text of the first tag of that name, in any case; "" for a bare tag, undefined when there is none. */
export function tagText(comment: DocComment, ...names: string[]): string | undefined {
  return comment.tags.find((tag) => names.some((name) => name.toLowerCase() === tag.name.toLowerCase()))
    ?.text;
}

export function parameterTags(comment: DocComment): ParameterTag[] {
  return comment.tags
    .filter(({ name }) => name === "param" || name === "arg")
    .map(({ text }) => parseParameter(text));
}

/** Splits `{type} rest`; the type may contain braces. */
export function splitType(text: string): { type?: string | undefined; rest: string } {
  if (!text.startsWith("{")) return { rest: text };
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === "{") depth += 1;
    if (text[index] === "}") depth -= 1;
    if (depth === 0) return { type: text.slice(1, index).trim(), rest: text.slice(index + 1).trim() };
  }
  return { rest: text };
}

function parseParameter(text: string): ParameterTag {
  const { type, rest } = splitType(text);
  const [, bracketed, plain, tail = ""] =
    /^(?:\[([^\]=]*)(?:=[^\]]*)?\]|(\S+))\s*([\s\S]*)$/.exec(rest) ?? [];
  return {
    name: (bracketed ?? plain ?? "").trim(),
    type: type?.replace(/=$/, ""),
    optional: bracketed !== undefined || type?.endsWith("=") === true,
    text: tail.replace(/^[-–:]\s*/, ""),
  };
}

function toParagraphs(lines: readonly string[]): string {
  return lines
    .map((line) => line.trim())
    .join("\n")
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll("\n", " "))
    .join("\n\n")
    .replaceAll(
      /\{@link(?:code|plain)?\s([^{}|]+)(?:\|([^{}]*))?\}/g,
      (_all, target: string, label?: string) => label ?? target,
    );
}

export type Comments = ReturnType<typeof indexComments>;

/** Beginnings of comments that are linter directives or licenses. */
const DIRECTIVE =
  /^[\s*]*(?:@ts-|eslint|oxlint|prettier|biome|tslint|deno-|istanbul|c8 |v8 |copyright|@license|spdx|\(c\)|#)/i;

/** Indexes the comments of a file by their position. */
export function indexComments(code: string, file: File) {
  const comments = file.comments ?? [];

  function before(start: number): DocComment {
    let next = start;
    for (let index = lastBefore(comments, start); index >= 0; index -= 1) {
      const comment = comments[index];
      if (!comment || code.slice(comment.end, next).trim() !== "") break;
      if (isBlock(comment) && comment.value.startsWith("*")) return parseDocComment(comment.value);
      next = comment.start ?? 0;
    }
    return NO_COMMENT;
  }

  function behind(end: number): DocComment {
    const comment = comments[lastBefore(comments, end) + 1];
    if (!comment || isBlock(comment)) return NO_COMMENT;
    const between = code.slice(end, comment.start);
    return /^[;,]?[ \t]*$/.test(between) ? parseDocComment(comment.value) : NO_COMMENT;
  }

  return {
    /** The doc comment right before a node, or the line comment after it on the same line. */
    of(node: Node): DocComment {
      const comment = before(node.start ?? 0);
      return comment === NO_COMMENT ? behind(node.end ?? 0) : comment;
    },
    /** The comment at the top of the file, unless it documents the first statement. */
    ofFile(): DocComment {
      const statement = file.program.body[0];
      const limit = statement?.start ?? code.length;
      const leading = comments.filter(({ end, value }) => (end ?? 0) <= limit && !DIRECTIVE.test(value));
      const [first] = leading;
      if (!first) return NO_COMMENT;
      if (!isBlock(first)) return parseDocComment(joinLines(code, leading));
      const comment = parseDocComment(first.value);
      const isAboutFile =
        leading.length > 1 ||
        !statement ||
        !isDocumented(statement) ||
        comment.tags.some(({ name }) =>
          ["module", "packageDocumentation", "file", "fileoverview"].includes(name),
        );
      return isAboutFile ? comment : NO_COMMENT;
    },
  };
}

function isDocumented(statement: Node): boolean {
  if (statement.type === "ImportDeclaration" || statement.type === "ExportAllDeclaration") return false;
  return statement.type !== "ExportNamedDeclaration" || Boolean(statement.declaration);
}

/** Joins line comments on consecutive lines into one text. */
function joinLines(code: string, comments: readonly Comment[]): string {
  const lines: string[] = [];
  let end = comments[0]?.start ?? 0;
  for (const comment of comments) {
    const between = code.slice(end, comment.start);
    if (isBlock(comment) || between.trim() !== "" || between.split("\n").length > 2) break;
    lines.push(comment.value.trim());
    end = comment.end ?? 0;
  }
  return lines.join("\n");
}

function isBlock({ type }: Comment): boolean {
  return type === "CommentBlock";
}

/** Index of the last comment or statement that ends at or before an offset; -1 for none. */
export function lastBefore(places: readonly Pick<Node, "end">[], offset: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle]?.end ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
