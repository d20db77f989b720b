import { propertyKey } from "./safe-text.ts";
import type { NamedType, ObjectNode, TypeNode } from "./type-node.ts";

/** A longer signature is written with less detail. */
const MAX_SIGNATURE_CHARACTERS = 600;
/** More values of an enum than this are left to the type's file. */
const MAX_PARTS = 12;
/** A type with more parts than this is too long for a line before it is written. */
const MAX_NODES = 1_000;
const MAX_DETAIL = 3;

/** What a signature is written from. */
export interface Call {
  identifier: string;
  input: NamedType;
  /** Whether the argument may be left out. */
  optional: boolean;
  /** Absent when nothing is known of the result. */
  output: NamedType | undefined;
}

/** How a tool is called, in one line of TypeScript: `add(input: { a: number; b: number }): Promise<number>`. */
export function printSignature(call: Call): string {
  for (let detail = MAX_DETAIL; detail > 0; detail -= 1) {
    const signature = write(call, detail, detail);
    if (signature.length <= MAX_SIGNATURE_CHARACTERS) return signature;
  }
  const withoutResult = write(call, 1, 0);
  return withoutResult.length <= MAX_SIGNATURE_CHARACTERS * 3 ? withoutResult : write(call, 0, 0);
}

/** Whether the type is an object without any property. */
function isClosedAndEmpty(node: TypeNode | undefined): boolean {
  if (node?.kind !== "object" || node.members.length > 0) return false;
  return node.index?.kind === "text" && node.index.text === "never";
}

function write(
  { identifier, input, optional, output }: Call,
  inputDetail: number,
  outputDetail: number,
): string {
  const print = createBriefPrinter();
  const parameter = isClosedAndEmpty(input.node)
    ? ""
    : `input${optional ? "?" : ""}: ${print(input.node, inputDetail)}`;
  const result = output === undefined ? "unknown" : print(output.node, outputDetail);
  return `${identifier}(${parameter}): Promise<${result}>`;
}

/** Writes types on one line, with objects written out to some levels of detail. */
function createBriefPrinter(): (node: TypeNode | undefined, detail: number) => string {
  let nodes = 0;

  function brief(node: TypeNode | undefined, detail: number): string {
    nodes += 1;
    // Long enough already to be written again with less detail.
    if (node === undefined || nodes > MAX_NODES) return "unknown";
    switch (node.kind) {
      case "text":
        return node.text;
      case "reference":
        return detail > 0 ? brief(node.to.node, detail - 1) : "unknown";
      case "object":
        return detail > 0 ? briefObject(node, detail - 1) : "object";
      case "array":
        return `${briefPart(node.item, detail)}[]`;
      case "tuple": {
        const items = node.items.map(
          (item, index) => briefPart(item, detail) + (index < node.required ? "" : "?"),
        );
        if (node.rest !== undefined) items.push(`...${briefPart(node.rest, detail)}[]`);
        return `[${items.join(", ")}]`;
      }
      default: {
        const parts = [...new Set(node.parts.slice(0, MAX_PARTS + 1).map((part) => briefPart(part, detail)))];
        if (parts.length <= MAX_PARTS) return parts.join(node.kind === "union" ? " | " : " & ");
        return node.parts.every((part) => part.kind === "text" && part.text.startsWith('"'))
          ? "string"
          : "unknown";
      }
    }
  }

  function briefPart(node: TypeNode, detail: number): string {
    const text = brief(node, detail);
    return / [|&] /.test(text) ? `(${text})` : text;
  }

  function briefObject(node: ObjectNode, detail: number): string {
    const members = node.members.map(
      (member) => `${propertyKey(member.name)}${member.optional ? "?" : ""}: ${brief(member.type, detail)}`,
    );
    if (node.index !== undefined) members.push(`[key: string]: ${brief(node.index, detail)}`);
    return members.length === 0 ? "{}" : `{ ${members.join("; ")} }`;
  }

  return brief;
}
