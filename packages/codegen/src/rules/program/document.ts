/** Text that is laid out in one line when it fits, or broken at its lines. */
export type Document =
  | string
  | { kind: "concat"; parts: readonly Document[] }
  | { kind: "group"; content: Document }
  | { kind: "indent"; content: Document }
  | { kind: "line"; flat: string }
  | { kind: "if-broken"; text: string };

const LINE_WIDTH_CHARACTERS = 100;

export const concat = (...parts: Document[]): Document => ({ kind: "concat", parts });
export const group = (...parts: Document[]): Document => ({ kind: "group", content: concat(...parts) });
export const indent = (...parts: Document[]): Document => ({ kind: "indent", content: concat(...parts) });
/** A space, or a line break. */
export const line: Document = { kind: "line", flat: " " };
/** Nothing, or a line break. */
const softLine: Document = { kind: "line", flat: "" };
const trailingComma: Document = { kind: "if-broken", text: "," };

export function join(separator: Document, parts: readonly Document[]): Document {
  return concat(...parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part])));
}

/** `open` items `close`, on one line or one item per line. */
export function enclosed(
  open: string,
  items: readonly Document[],
  close: string,
  pad: Document = softLine,
): Document {
  if (items.length === 0) return open + close;
  return group(open, indent(pad, join(concat(",", line), items)), trailingComma, pad, close);
}

interface Frame {
  document: Document;
  depth: number;
  broken: boolean;
}

/** Lays a document out. `depth` is its indentation in steps of two spaces. */
export function layOut(document: Document, depth = 0): string {
  const output: string[] = [];
  let column = depth * 2;
  const stack: Frame[] = [{ document, depth, broken: true }];
  for (let frame = stack.pop(); frame !== undefined; frame = stack.pop()) {
    const { document: part, depth: level, broken } = frame;
    if (typeof part === "string") {
      output.push(part);
      column += part.length;
    } else if (part.kind === "concat") {
      for (const child of part.parts.toReversed()) stack.push({ document: child, depth: level, broken });
    } else if (part.kind === "indent") {
      stack.push({ document: part.content, depth: level + 1, broken });
    } else if (part.kind === "group") {
      const fits = width(part.content, LINE_WIDTH_CHARACTERS - column) <= LINE_WIDTH_CHARACTERS - column;
      stack.push({ document: part.content, depth: level, broken: !fits });
    } else if (part.kind === "if-broken") {
      if (broken) output.push(part.text);
    } else if (broken) {
      column = level * 2;
      output.push(`\n${" ".repeat(column)}`);
    } else {
      output.push(part.flat);
      column += part.flat.length;
    }
  }
  return output.join("");
}

/** The width on one line, counted no further than `limit`. */
function width(document: Document, limit: number): number {
  let sum = 0;
  const stack: Document[] = [document];
  for (let part = stack.pop(); part !== undefined && sum <= limit; part = stack.pop()) {
    if (typeof part === "string") sum += part.length;
    else if (part.kind === "concat") stack.push(...part.parts.toReversed());
    else if (part.kind === "group" || part.kind === "indent") stack.push(part.content);
    else if (part.kind === "line") sum += part.flat.length;
  }
  return sum;
}
