import type { File, Node } from "@babel/types";
import { NO_COMMENT, parseDocComment, type DocComment } from "./doc-comment.ts";

interface PlacedComment {
  start: number;
  end: number;
  isBlock: boolean;
  text: string;
}

/** Finds the comments of a parsed file. */
export interface Comments {
  /** The doc comment right before a node, or the line comment after it on the same line. */
  of(node: Node): DocComment;
  /** The comment at the top of the file, unless it documents the first statement. */
  ofFile(): DocComment;
}

/** Beginnings of comments that are linter directives or licenses. */
const DIRECTIVE =
  /^[\s*]*(?:@ts-|eslint|oxlint|prettier|biome|tslint|deno-|istanbul|c8 |v8 |copyright|@license|spdx|\(c\)|#)/i;

/** Indexes the comments of a file by their position. */
export function indexComments(code: string, file: File): Comments {
  const comments: PlacedComment[] = (file.comments ?? []).map((comment) => ({
    start: comment.start ?? 0,
    end: comment.end ?? 0,
    isBlock: comment.type === "CommentBlock",
    text: comment.value,
  }));

  const isBlank = (from: number, to: number) => code.slice(from, to).trim() === "";

  function before(start: number): DocComment {
    let next = start;
    for (let index = lastBefore(comments, start); index >= 0; index -= 1) {
      const comment = comments[index];
      if (!comment || !isBlank(comment.end, next)) break;
      if (comment.isBlock && comment.text.startsWith("*")) return parseDocComment(comment.text);
      next = comment.start;
    }
    return NO_COMMENT;
  }

  function behind(end: number): DocComment {
    const comment = comments[lastBefore(comments, end) + 1];
    if (!comment || comment.isBlock) return NO_COMMENT;
    const between = code.slice(end, comment.start);
    return /^[;,]?[ \t]*$/.test(between) ? parseDocComment(comment.text) : NO_COMMENT;
  }

  return {
    of(node) {
      const comment = before(node.start ?? 0);
      return comment === NO_COMMENT ? behind(node.end ?? 0) : comment;
    },
    ofFile() {
      const statement = file.program.body[0];
      const limit = statement?.start ?? code.length;
      const leading = comments.filter((comment) => comment.end <= limit && !DIRECTIVE.test(comment.text));
      const [first] = leading;
      if (!first) return NO_COMMENT;
      if (!first.isBlock) return parseDocComment(joinLines(code, leading));
      const comment = parseDocComment(first.text);
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

/** Whether a comment before a statement documents that statement. */
function isDocumented(statement: Node): boolean {
  if (statement.type === "ImportDeclaration" || statement.type === "ExportAllDeclaration") return false;
  return statement.type !== "ExportNamedDeclaration" || Boolean(statement.declaration);
}

/** Joins line comments on consecutive lines into one text. */
function joinLines(code: string, comments: readonly PlacedComment[]): string {
  const lines: string[] = [];
  let end = comments[0]?.start ?? 0;
  for (const comment of comments) {
    if (
      comment.isBlock ||
      !/^\s*$/.test(code.slice(end, comment.start)) ||
      code.slice(end, comment.start).split("\n").length > 2
    )
      break;
    lines.push(comment.text.trim());
    end = comment.end;
  }
  return lines.join("\n");
}

/** Index of the last comment that ends at or before an offset; -1 for none. */
function lastBefore(comments: readonly PlacedComment[], offset: number): number {
  let low = 0;
  let high = comments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((comments[middle]?.end ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
