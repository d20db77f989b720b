import { propertyKey } from "./safe-text.ts";
import type { Member, NamedType, ObjectNode, TypeNode } from "./type-node.ts";

/** A longer signature is printed with less detail. */
const MAX_SIGNATURE_CHARACTERS = 600;
/** A union of more parts than this is printed as `string` or `unknown`. */
const MAX_PARTS = 12;
/** Printing stops at this many types, when the signature is too long in any case. */
const MAX_NODES = 1_000;
const MAX_DETAIL = 3;
/** Of a signature with comments. */
const MAX_DESCRIBED_CHARACTERS = 3_000;
/** Of the description of an argument, and of a part of a result. */
const MAX_ARGUMENT_CHARACTERS = 320;
const MAX_RESULT_CHARACTERS = 80;
/** A union of literals of so many characters gets a name where it stands more than once. */
const MIN_NAMED_UNION_CHARACTERS = 40;
const MAX_NAMED_UNION_PARTS = 60;

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

/** Names for unions of literals that stand in several places. */
export interface UnionNames {
  /** The text for a union of literals in the place of a property: a name where it has one. */
  textOf(union: string, property: string): string;
}

/**
 * Prints the signature of a tool with what each property means as a comment:
 * `get_forecast(input: { days?: number /* integer 1–31, how many days, default 5 *\/ }): Promise<string>`.
 *
 * @param result - The type of the result, for a tool without a schema of it.
 */
export function printDescribedSignature(call: Call, unions: UnionNames, result = "unknown"): string {
  let shortest = "";
  for (const [inputDetail, outputDetail] of [
    [3, 3],
    [3, 2],
    [2, 1],
    [1, 1],
    [1, 0],
  ] as const) {
    const printInput = createBriefPrinter({ unions, maxDescription: MAX_ARGUMENT_CHARACTERS });
    const printOutput = createBriefPrinter({ unions, maxDescription: MAX_RESULT_CHARACTERS });
    shortest = write(call, inputDetail, outputDetail, { printInput, printOutput, unknownResult: result });
    if (shortest.length <= MAX_DESCRIBED_CHARACTERS) return shortest;
  }
  return shortest.length <= MAX_DESCRIBED_CHARACTERS * 2 ? shortest : printSignature(call);
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
  { printInput, printOutput, unknownResult }: Printers = plainPrinters(),
): string {
  const parameter = isClosedAndEmpty(input.node)
    ? ""
    : `input${optional ? "?" : ""}: ${printInput(input.node, inputDetail)}`;
  const result = output === undefined ? unknownResult : printOutput(output.node, outputDetail);
  return `${identifier}(${parameter}): Promise<${result}>`;
}

type BriefPrinter = (node: TypeNode | undefined, detail: number, property?: string) => string;

interface Printers {
  printInput: BriefPrinter;
  printOutput: BriefPrinter;
  /** The type of a result without a schema. */
  unknownResult: string;
}

/** Printers of types without comments. */
function plainPrinters(): Printers {
  const print = createBriefPrinter();
  return { printInput: print, printOutput: print, unknownResult: "unknown" };
}

/**
 * Creates a function that prints types on one line, with objects expanded to a number of levels.
 *
 * @param comments - With it, properties have comments and unions of literals may have names.
 */
function createBriefPrinter(comments?: { unions: UnionNames; maxDescription: number }): BriefPrinter {
  let nodes = 0;

  function brief(node: TypeNode | undefined, detail: number, property = ""): string {
    nodes += 1;
    // The result is too long already and will be printed again with less detail.
    if (node === undefined || nodes > MAX_NODES) return "unknown";
    switch (node.kind) {
      case "text":
        return node.text;
      case "reference":
        return detail > 0 ? brief(node.to.node, detail - 1, property) : "unknown";
      case "object":
        return detail > 0 ? briefObject(node, detail - 1) : "object";
      case "array":
        return `${briefPart(node.item, detail, property)}[]`;
      case "tuple": {
        const items = node.items.map(
          (item, index) => briefPart(item, detail) + (index < node.required ? "" : "?"),
        );
        if (node.rest !== undefined) items.push(`...${briefPart(node.rest, detail)}[]`);
        return `[${items.join(", ")}]`;
      }
      default: {
        const named = namedUnion(node, property);
        if (named !== undefined) return named;
        const parts = [...new Set(node.parts.slice(0, MAX_PARTS + 1).map((part) => briefPart(part, detail)))];
        if (parts.length <= MAX_PARTS) return parts.join(node.kind === "union" ? " | " : " & ");
        return node.parts.every((part) => part.kind === "text" && part.text.startsWith('"'))
          ? "string"
          : "unknown";
      }
    }
  }

  function namedUnion({ kind, parts }: Extract<TypeNode, { parts: TypeNode[] }>, property: string) {
    if (comments === undefined || kind !== "union" || parts.length > MAX_NAMED_UNION_PARTS) return undefined;
    if (!parts.every((part) => part.kind === "text")) return undefined;
    const text = parts.map((part) => (part as { text: string }).text).join(" | ");
    return text.length < MIN_NAMED_UNION_CHARACTERS ? undefined : comments.unions.textOf(text, property);
  }

  function briefPart(node: TypeNode, detail: number, property = ""): string {
    const text = brief(node, detail, property);
    return / [|&] /.test(text) ? `(${text})` : text;
  }

  function commentOf(member: Member, maxDescription: number): string {
    // A single literal says all there is to know.
    const isLiteral = member.type.kind === "text" && member.type.text.startsWith('"');
    const words = isLiteral ? "" : member.brief(maxDescription);
    return words === "" ? "" : ` /* ${words} */`;
  }

  function briefObject(node: ObjectNode, detail: number): string {
    const members = node.members.map((member) => {
      const type = brief(member.type, detail, member.name);
      const comment = comments === undefined ? "" : commentOf(member, comments.maxDescription);
      return `${propertyKey(member.name)}${member.optional ? "?" : ""}: ${type}${comment}`;
    });
    if (node.index !== undefined) members.push(`[key: string]: ${brief(node.index, detail)}`);
    return members.length === 0 ? "{}" : `{ ${members.join("; ")} }`;
  }

  return brief;
}
