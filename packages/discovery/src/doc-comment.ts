/** One block tag: `@param input.a The first number.` is {name: "param", text: "input.a The first number."}. */
export interface DocTag {
  name: string;
  text: string;
}

/** A parsed documentation comment. */
export interface DocComment {
  /** The text before the first tag: paragraphs separated by an empty line, each on one line. */
  summary: string;
  tags: readonly DocTag[];
}

/** A parsed `@param` tag. */
export interface ParameterTag {
  /** `a`, or `input.a` for a property. */
  name: string;
  /** The type in braces, as JSDoc writes it. */
  type?: string | undefined;
  optional: boolean;
  text: string;
}

export const NO_COMMENT: DocComment = { summary: "", tags: [] };

const MAX_TEXT_CHARACTERS = 20_000;

/** Parses the inside of a block comment. Tags in fenced code blocks are text. */
export function parseDocComment(inside: string): DocComment {
  const lines = inside
    .slice(0, MAX_TEXT_CHARACTERS)
    .replace(/^\*/, "")
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

/** The text of the first tag of that name, in any case; "" for a bare tag, undefined where there is none. */
export function tagText(comment: DocComment, ...names: string[]): string | undefined {
  return comment.tags.find((tag) => names.some((name) => name.toLowerCase() === tag.name.toLowerCase()))
    ?.text;
}

/** All `@param` tags, in order. */
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
