import type { ToolDefinition } from "@cem/core";
import { withHandles } from "../schema/handle-types.ts";
import { createTypeNames, readSchemaTypes } from "../schema/schema-types.ts";
import { acceptsEmptyObject, type NamedType, UNKNOWN } from "../schema/type-node.ts";
import type { TypeNode } from "../schema/type-node.ts";
import { printBriefType, type UnionNames } from "./print-type.ts";

/** A longer signature is printed with less detail. */
const MAX_SIGNATURE_CHARACTERS = 600;
const MAX_DETAIL = 3;
/** Of a signature with comments. */
const MAX_DESCRIBED_CHARACTERS = 3_000;
/** Of the description of an argument, and of a part of a result. */
const MAX_ARGUMENT_CHARACTERS = 320;
const MAX_RESULT_CHARACTERS = 80;

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

/**
 * Prints the signature of a tool with what each property means as a comment:
 * `get_forecast(input: { days?: number /* integer 1–31, how many days, default 5 *\/ }): Promise<string>`.
 *
 * @param result - The type of the result, for a tool without a schema of it.
 */
function printDescribedSignature(call: Call, unions: UnionNames, result = "unknown"): string {
  let shortest = "";
  for (const [inputDetail, outputDetail] of [
    [3, 3],
    [3, 2],
    [2, 1],
    [1, 1],
    [1, 0],
  ] as const) {
    shortest = write(call, inputDetail, outputDetail, { unions, unknownResult: result });
    if (shortest.length <= MAX_DESCRIBED_CHARACTERS) return shortest;
  }
  return shortest.length <= MAX_DESCRIBED_CHARACTERS * 2 ? shortest : printSignature(call);
}

/** Whether the type is an object that allows no property. */
function isClosedAndEmpty(node: TypeNode | undefined): boolean {
  if (node?.kind !== "object" || node.members.length > 0) return false;
  return node.index?.kind === "text" && node.index.text === "never";
}

/** @param described - With it, properties have comments and unions of literals may have names. */
function write(
  { identifier, input, optional, output }: Call,
  inputDetail: number,
  outputDetail: number,
  described?: { unions: UnionNames; unknownResult: string },
): string {
  const print = (node: TypeNode | undefined, detail: number, maxDescription: number): string =>
    printBriefType(node, detail, described && { unions: described.unions, maxDescription });
  const parameter = isClosedAndEmpty(input.node)
    ? ""
    : `input${optional ? "?" : ""}: ${print(input.node, inputDetail, MAX_ARGUMENT_CHARACTERS)}`;
  const result =
    output === undefined
      ? (described?.unknownResult ?? "unknown")
      : print(output.node, outputDetail, MAX_RESULT_CHARACTERS);
  return `${identifier}(${parameter}): Promise<${result}>`;
}

type CallableTool = Pick<ToolDefinition, "name" | "inputSchema" | "outputSchema" | "callStyle" | "signature">;

/** Signatures for a reader who knows nothing else of the tools. */
export interface DescribedCalls {
  /** Unions of literals that stand in more than one place: `type Condition = "sunny" | "rainy";`. */
  types: string[];
  /** One signature for each tool, in the given order. */
  signatures: string[];
}

/**
 * Prints signatures in which short comments say what the types can't: units, ranges, formats and defaults. They refer to
 * {@link DescribedCalls.types}.
 */
export function describeCalls(tools: readonly CallableTool[]): DescribedCalls {
  const printers = tools.map(printerOf);
  const unions = noteUnions();
  const printed = printers.map((print) => print(unions));
  const { names, types } = nameRepeated(unions.seen, printed);
  return { types, signatures: printers.map((print) => print(names)) };
}

function printerOf(tool: CallableTool): (unions: UnionNames) => string {
  const { name, inputSchema, outputSchema, callStyle, signature } = tool;
  if (callStyle === "positional") return () => signature;
  const names = createTypeNames();
  const input = wholeOf(inputSchema, `${name} input`, names, true);
  if (input.node === undefined || input.node === UNKNOWN) return () => signature;
  const output = outputSchema && wholeOf(withHandles(outputSchema), `${name} output`, names, false);
  const isKnown = output?.node !== undefined && output.node !== UNKNOWN;
  const optional = acceptsEmptyObject(input.node);
  const call: Call = { identifier: name, input, optional, output: isKnown ? output : undefined };
  const result = resultOf(signature);
  return (unions) => printDescribedSignature(call, unions, result);
}

function wholeOf(
  schema: unknown,
  words: string,
  names: ReturnType<typeof createTypeNames>,
  isInput: boolean,
): NamedType {
  const [whole] = readSchemaTypes(schema, names.next(words), names, isInput).types;
  return whole ?? { name: words, comment: "", consistsOf: new Set() };
}

/** The type within `Promise<…>` at the end of a signature; types of files that a schema can't tell stand only there. */
function resultOf(signature: string): string | undefined {
  return /\): Promise<((?:(?!\): Promise<).)*)>$/u.exec(signature)?.[1];
}

/** Notes the unions that are printed, each with the property where it stood first. */
function noteUnions(): UnionNames & { seen: Map<string, string> } {
  const seen = new Map<string, string>();
  return {
    seen,
    textOf(union, property) {
      if (!seen.has(union)) seen.set(union, property);
      return union;
    },
  };
}

function nameRepeated(
  seen: ReadonlyMap<string, string>,
  printed: readonly string[],
): { names: UnionNames; types: string[] } {
  const text = printed.join("\n");
  const typeNames = createTypeNames();
  const named = new Map<string, string>();
  for (const [union, property] of seen) {
    const isRepeated = text.indexOf(union) !== text.lastIndexOf(union);
    if (isRepeated) named.set(union, typeNames.next(property === "" ? "value" : property));
  }
  return {
    names: { textOf: (union) => named.get(union) ?? union },
    types: [...named].map(([union, name]) => `type ${name} = ${union};`),
  };
}
