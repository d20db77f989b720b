import { propertyKey } from "../safe-text.ts";
import type { Member, NamedType, ObjectNode, TypeNode } from "../schema/type-node.ts";
import { memberComment } from "./member-comment.ts";

const LINE_CHARACTERS = 110;
/** For a type on one line: a union of more parts is printed as `string` or `unknown`. */
const MAX_PARTS = 12;
/** For types on one line: printing stops at this many nodes, since the text is too long anyway. */
const MAX_NODES = 1_000;
/** Minimum length of a union of literals, or of an object, to get a name. */
const MIN_NAMED_CHARACTERS = 40;
const MAX_NAMED_UNION_PARTS = 60;

type Parts = Extract<TypeNode, { parts: TypeNode[] }>;

/** Receives each type that may get a name if it is repeated, with the property that has it. */
export type NoteType = (text: string, property: string) => void;

/** Where a type is printed: the start of further lines, the levels to expand, and the property that has it. */
interface Place {
  indent: string;
  detail: number;
  property: string;
}

/** The differences between types on several lines and on one. */
interface Layout {
  reference(to: NamedType, place: Place): string;
  object(node: ObjectNode, place: Place): string;
  items(items: readonly string[], place: Place): string;
  alternatives(node: Parts, place: Place): string;
  /** Whether a printed type needs parentheses before `[]`, `?` or another operator. */
  isJoined(node: TypeNode, text: string): boolean;
}

function printType(node: TypeNode, layout: Layout, place: Place): string {
  switch (node.kind) {
    case "text":
      return node.text;
    case "reference":
      return layout.reference(node.to, place);
    case "object":
      return layout.object(node, place);
    case "array":
      return `${printPart(node.item, layout, place)}[]`;
    case "tuple": {
      const items = node.items.map((item, index) =>
        index < node.required ? printType(item, layout, place) : `${printPart(item, layout, place)}?`,
      );
      if (node.rest !== undefined) items.push(`...${printPart(node.rest, layout, place)}[]`);
      return `[${layout.items(items, place)}]`;
    }
    default:
      return layout.alternatives(node, place);
  }
}

function printPart(node: TypeNode, layout: Layout, place: Place): string {
  const text = printType(node, layout, place);
  return layout.isJoined(node, text) ? `(${text})` : text;
}

function printMember({ name, optional }: Member, type: string): string {
  return `${propertyKey(name)}${optional ? "?" : ""}: ${type}`;
}

export function printDeclaration({ name, comment, node }: NamedType, keyword: "export " | ""): string {
  const place: Place = { indent: "", detail: Infinity, property: "" };
  const about = comment === "" ? "" : `/** ${comment} */\n`;
  const type = node === undefined ? "unknown" : printType(node, LINES, place);
  const isInterface = node?.kind === "object" && node.members.length > 0;
  return `${about}${keyword}${isInterface ? `interface ${name} ${type}` : `type ${name} = ${type};`}\n`;
}

const LINES: Layout = {
  reference: (to) => to.name,
  object({ members, index }, place) {
    const indent = `${place.indent}  `;
    const print = (node: TypeNode): string => printType(node, LINES, { ...place, indent });
    if (members.length === 0) return index === undefined ? "{}" : `{ [key: string]: ${print(index)} }`;
    const lines = members.map((member) => {
      const about = memberComment(member.name, member.schema);
      const comment = about === "" ? "" : `${indent}/** ${about} */\n`;
      return `${comment}${indent}${printMember(member, print(member.type))};\n`;
    });
    if (index !== undefined) lines.push(`${indent}[key: string]: ${print(index)};\n`);
    return `{\n${lines.join("")}${place.indent}}`;
  },
  items: (items, { indent }) => fill(items, ",", indent),
  alternatives({ kind, parts }, place) {
    const printed = parts.map((part) => printPart(part, LINES, place));
    return fill(printed, kind === "union" ? " |" : " &", place.indent);
  },
  isJoined: ({ kind }) => kind === "union" || kind === "intersection",
};

function fill(parts: readonly string[], separator: string, indent: string): string {
  const oneLine = parts.join(`${separator} `);
  if (oneLine.length + indent.length <= LINE_CHARACTERS || oneLine.includes("\n")) return oneLine;
  let line = "";
  const lines: string[] = [];
  for (const part of parts) {
    if (line !== "" && line.length + part.length > LINE_CHARACTERS) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? part : `${separator} ${part}`;
  }
  return [...lines, line].join(`${separator}\n${indent}  `);
}

/** Settings of comments in a type on one line, and the callback for its parts. */
export interface BriefComments {
  note: NoteType;
  maxDescription: number;
  property: string;
}

/** Prints a type on one line, with objects expanded to a number of levels. */
export function printBriefType(node: TypeNode | undefined, detail: number, comments?: BriefComments): string {
  const layout = lineLayout(comments);
  const place = { indent: "", detail, property: comments?.property ?? "" };
  return node === undefined ? "unknown" : printType(node, layout, place);
}

function lineLayout(comments: BriefComments | undefined): Layout {
  let nodes = 0;
  const print = (node: TypeNode | undefined, place: Place): string => {
    nodes += 1;
    // The result is too long already and will be printed again with less detail.
    return node === undefined || nodes > MAX_NODES ? "unknown" : printType(node, layout, place);
  };
  const layout: Layout = {
    reference: (to, place) =>
      place.detail > 0 ? print(to.node, { ...place, detail: place.detail - 1 }) : "unknown",
    object({ members, index }, { indent, detail, property }) {
      if (detail === 0) return "object";
      const inner = { indent, detail: detail - 1 };
      const printed = members.map((member) => {
        const type = print(member.type, { ...inner, property: member.name });
        return printMember(member, type) + briefCommentOf(member, comments);
      });
      if (index !== undefined) printed.push(`[key: string]: ${print(index, { ...inner, property: "" })}`);
      return printed.length === 0 ? "{}" : noted(`{ ${printed.join("; ")} }`, property, comments);
    },
    items: (items) => items.join(", "),
    alternatives(node, place) {
      const literals = comments === undefined ? undefined : literalsOf(node);
      if (literals !== undefined) return noted(literals, place.property, comments);
      nodes += node.parts.length;
      const some = node.parts.slice(0, nodes > MAX_NODES ? 0 : MAX_PARTS + 1);
      const parts = [...new Set(some.map((part) => printPart(part, layout, { ...place, property: "" })))];
      if (parts.length > 0 && parts.length <= MAX_PARTS)
        return parts.join(node.kind === "union" ? " | " : " & ");
      return node.parts.every(isTextLiteral) ? "string" : "unknown";
    },
    isJoined: (_node, text) => / [|&] /.test(text),
  };
  return layout;
}

function briefCommentOf({ name, type, schema }: Member, comments: BriefComments | undefined): string {
  // A single literal says everything.
  if (comments === undefined || schema === undefined || isTextLiteral(type)) return "";
  const words = memberComment(name, schema, comments.maxDescription);
  return words === "" ? "" : ` /* ${words} */`;
}

function noted(text: string, property: string, comments: BriefComments | undefined): string {
  if (text.length >= MIN_NAMED_CHARACTERS) comments?.note(text, property);
  return text;
}

function literalsOf({ kind, parts }: Parts): string | undefined {
  if (kind !== "union" || parts.length > MAX_NAMED_UNION_PARTS) return undefined;
  const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  const text = texts.join(" | ");
  return texts.length === parts.length && text.length >= MIN_NAMED_CHARACTERS ? text : undefined;
}

function isTextLiteral(node: TypeNode): boolean {
  return node.kind === "text" && node.text.startsWith('"');
}
