import { propertyKey } from "./safe-text.ts";
import type { Member, NamedType, ObjectNode, TypeNode } from "./type-node.ts";

const LINE_CHARACTERS = 110;

/** How types are printed. */
export interface PrintSettings {
  /** Whether properties have comments. */
  comments: boolean;
}

/** Prints the declaration of a named type. */
export function printDeclaration(named: NamedType, keyword: "export " | "", settings: PrintSettings): string {
  const comment = named.comment === "" ? "" : `/** ${named.comment} */\n`;
  const node = named.node;
  if (node?.kind === "object" && node.members.length > 0) {
    return `${comment}${keyword}interface ${named.name} ${printObject(node, "", settings)}\n`;
  }
  const type = node === undefined ? "unknown" : printType(node, "", settings);
  return `${comment}${keyword}type ${named.name} = ${type};\n`;
}

/** Prints a type; lines after the first start with `indent`. */
function printType(node: TypeNode, indent: string, settings: PrintSettings): string {
  switch (node.kind) {
    case "text":
      return node.text;
    case "reference":
      return node.to.name;
    case "object":
      return printObject(node, indent, settings);
    case "array":
      return `${printPart(node.item, indent, settings)}[]`;
    case "tuple": {
      const items = node.items.map((item, index) => {
        const isOptional = index >= node.required;
        return isOptional ? `${printPart(item, indent, settings)}?` : printType(item, indent, settings);
      });
      if (node.rest !== undefined) items.push(`...${printPart(node.rest, indent, settings)}[]`);
      return `[${fill(items, ",", indent)}]`;
    }
    default: {
      const parts = node.parts.map((part) => printPart(part, indent, settings));
      return fill(parts, node.kind === "union" ? " |" : " &", indent);
    }
  }
}

/** Prints a type in parentheses where an operator next to it requires them. */
function printPart(node: TypeNode, indent: string, settings: PrintSettings): string {
  const text = printType(node, indent, settings);
  return node.kind === "union" || node.kind === "intersection" ? `(${text})` : text;
}

function printObject(node: ObjectNode, indent: string, settings: PrintSettings): string {
  const index = node.index === undefined ? undefined : printType(node.index, `${indent}  `, settings);
  if (node.members.length === 0) return index === undefined ? "{}" : `{ [key: string]: ${index} }`;
  const lines = node.members.map((member) => printMember(member, `${indent}  `, settings));
  if (index !== undefined) lines.push(`${indent}  [key: string]: ${index};\n`);
  return `{\n${lines.join("")}${indent}}`;
}

function printMember(member: Member, indent: string, settings: PrintSettings): string {
  const comment = settings.comments && member.comment !== "" ? `${indent}/** ${member.comment} */\n` : "";
  const type = printType(member.type, indent, settings);
  return `${comment}${indent}${propertyKey(member.name)}${member.optional ? "?" : ""}: ${type};\n`;
}

/** Joins parts and breaks lines that are too long. */
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
