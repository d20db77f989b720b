import type { JsonSchema, ToolDefinition } from "@cem/core";
import { withHandles } from "../schema/handle-types.ts";
import { createTypeNames, readSchemaTypes } from "../schema/schema-types.ts";
import { acceptsEmptyObject, type NamedType, UNKNOWN, type TypeNode } from "../schema/type-node.ts";
import { printBriefType, type NoteType } from "./print-type.ts";

/** A longer signature is printed with less detail. */
const MAX_SIGNATURE_CHARACTERS = 600;
const MAX_DETAIL = 3;
const MAX_DESCRIBED_CHARACTERS = 3_000;
/** Maximum length of the description of an argument or of a part of a result. */
const MAX_ARGUMENT_CHARACTERS = 320;
const MAX_RESULT_CHARACTERS = 80;

export interface Call {
  identifier: string;
  input: NamedType;
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

/** Prints the type of a schema's values on one line. `textOf` gives types that a schema can't express, such as `Date`. */
export function printSchemaType(schema: JsonSchema, textOf: (schema: JsonSchema) => string | undefined) {
  const [whole] = readSchemaTypes(schema, "Type", { names: createTypeNames(), isInput: false, textOf }).types;
  return textOf(schema) ?? printBriefType(whole.node, MAX_DETAIL);
}

/** Prints the signature of a tool, with the meaning of each property as a comment. `result`: that of an unknown output. */
function printDescribedSignature(call: Call, note: NoteType, result = "unknown"): string {
  let shortest = "";
  for (const [inputDetail, outputDetail] of [
    [3, 3],
    [3, 2],
    [2, 1],
    [1, 1],
    [1, 0],
  ] as const) {
    shortest = write(call, inputDetail, outputDetail, { note, unknownResult: result });
    if (shortest.length <= MAX_DESCRIBED_CHARACTERS) return shortest;
  }
  return shortest.length <= MAX_DESCRIBED_CHARACTERS * 2 ? shortest : printSignature(call);
}

function isClosedAndEmpty(node: TypeNode | undefined): boolean {
  if (node?.kind !== "object" || node.members.length > 0) return false;
  return node.index?.kind === "text" && node.index.text === "never";
}

function write(
  { identifier, input, optional, output }: Call,
  inputDetail: number,
  outputDetail: number,
  described?: { note: NoteType; unknownResult: string },
): string {
  const print = (node: TypeNode | undefined, detail: number, maxDescription: number, property: string) =>
    printBriefType(node, detail, described && { note: described.note, maxDescription, property });
  const parameter = isClosedAndEmpty(input.node)
    ? ""
    : `input${optional ? "?" : ""}: ${print(input.node, inputDetail, MAX_ARGUMENT_CHARACTERS, "input")}`;
  const result =
    output === undefined
      ? (described?.unknownResult ?? "unknown")
      : print(output.node, outputDetail, MAX_RESULT_CHARACTERS, "result");
  return `${identifier}(${parameter}): Promise<${result}>`;
}

type CallableTool = Pick<ToolDefinition, "name" | "inputSchema" | "outputSchema" | "callStyle" | "signature">;

/** Signatures for a reader who knows nothing else about the tools. */
export interface DescribedCalls {
  /** Unions of literals, and objects, that are used more than once: `type Condition = "sunny" | "rainy";`. */
  types: string[];
  /** One signature for each tool, in the given order. */
  signatures: string[];
}

/**
 * Prints signatures with short comments on what the types can't express: units, ranges, formats and defaults. They
 * refer to {@link DescribedCalls.types}.
 */
export function describeCalls(tools: readonly CallableTool[]): DescribedCalls {
  const seen = new Map<string, string>();
  const repeated = new Map<string, string>();
  const note: NoteType = (text, property) => {
    const first = seen.get(text);
    if (first === undefined) seen.set(text, property);
    else repeated.set(text, first);
  };
  const signatures = tools.map((tool) => describeCall(tool, note));
  return nameRepeated(repeated, signatures);
}

function describeCall(tool: CallableTool, note: NoteType): string {
  const { name, inputSchema, outputSchema, callStyle, signature } = tool;
  if (callStyle === "positional") return signature;
  const names = createTypeNames();
  const [input] = readSchemaTypes(inputSchema, names(`${name} input`), { names, isInput: true }).types;
  if (input.node === undefined || input.node === UNKNOWN) return signature;
  const output =
    outputSchema &&
    readSchemaTypes(withHandles(outputSchema), names(`${name} output`), { names, isInput: false }).types[0];
  const isKnown = output?.node !== undefined && output.node !== UNKNOWN;
  const optional = acceptsEmptyObject(input.node);
  const call: Call = { identifier: name, input, optional, output: isKnown ? output : undefined };
  // File types that a schema can't express appear only at the end of a signature.
  const result = /\): Promise<((?:(?!\): Promise<).)*)>$/u.exec(signature)?.[1];
  return printDescribedSignature(call, note, result);
}

/** Names types that are used in several signatures, or twice in one; the longest first, since it may contain others. */
function nameRepeated(repeated: ReadonlyMap<string, string>, signatures: readonly string[]): DescribedCalls {
  const typeNames = createTypeNames();
  // Identical tools of several servers have the same signature, which doesn't count as repetition.
  let texts = [...new Set(signatures)];
  const written = new Map(texts.map((text, at) => [text, at]));
  const longestFirst = [...repeated].toSorted(([one], [other]) => other.length - one.length);
  for (const [type, property] of longestFirst) {
    const text = texts.join("\n");
    if (text.indexOf(type) === text.lastIndexOf(type)) continue;
    const name = typeNames(property === "" ? "value" : property);
    const named = texts.map((one) => one.replaceAll(`(${type})`, name).replaceAll(type, name));
    texts = [...named, `type ${name} = ${type};`];
  }
  const once = commentedOnce(texts);
  return {
    types: once.slice(written.size),
    signatures: signatures.map((signature) => once[written.get(signature) ?? 0] ?? signature),
  };
}

/** Shorter comments are kept even if repeated. */
const LONG_COMMENT_CHARACTERS = 30;
const PROPERTY = /(?<=[;{] )/u;

/** Omits a long comment when an earlier property of the same name had it: the tools of a server share many. */
function commentedOnce(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  const commentedAnew = (property: string): string => {
    const start = property.indexOf(" /* ");
    const end = property.indexOf(" */", start) + " */".length;
    if (start === -1 || end - start < LONG_COMMENT_CHARACTERS) return property;
    const commented = property.slice(0, end);
    if (seen.has(commented)) return property.slice(0, start) + property.slice(end);
    seen.add(commented);
    return property;
  };
  return texts.map((text) => text.split(PROPERTY).map(commentedAnew).join(""));
}
