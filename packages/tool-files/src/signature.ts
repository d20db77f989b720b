import { propertyKey } from "./safe-text.ts";
import type { NamedType, ObjectNode, TypeNode } from "./type-node.ts";

/** A longer signature is printed with less detail. */
const MAX_SIGNATURE_CHARACTERS = 600;
/** A union of more parts than this is printed as `string` or `unknown`. */
const MAX_PARTS = 12;
/** Printing stops at this many types, when the signature is too long in any case. */
const MAX_NODES = 1_000;
const MAX_DETAIL = 3;

/** The parts of a signature. */
export interface Call {
  identifier: string;
  input: NamedType;
  /** Whether the argument is optional. */
  optional: boolean;
  /** `undefined` when the type of the result is unknown. */
  output: NamedType | undefined;
}

/** Prints the signature of a tool on one line: `add(input: { a: number; b: number }): Promise<number>`. */
export function printSignature(call: Call): string {
  for (let detail = MAX_DETAIL; detail > 0; detail -= 1) {
    const signature = write(call, detail, detail);
    if (signature.length <= MAX_SIGNATURE_CHARACTERS) return signature;
  }
  const withoutResult = write(call, 1, 0);
  return withoutResult.length <= MAX_SIGNATURE_CHARACTERS * 3 ? withoutResult : write(call, 0, 0);
}

/** Whether the type is an object that allows no property. */
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

/** Creates a function that prints types on one line, with objects expanded to a number of levels. */
function createBriefPrinter(): (node: TypeNode | undefined, detail: number) => string {
  let nodes = 0;

  function brief(node: TypeNode | undefined, detail: number): string {
    nodes += 1;
    // The result is too long already and will be printed again with less detail.
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
