import type { ToolDefinition } from "@cem/core";
import { withHandles } from "./handle-types.ts";
import { readSchemaTypes } from "./schema-types.ts";
import { type Call, printDescribedSignature, type UnionNames } from "./signature.ts";
import { createTypeNames } from "./type-names.ts";
import { acceptsEmptyObject, type NamedType, UNKNOWN } from "./type-node.ts";

type CallableTool = Pick<
  ToolDefinition,
  "name" | "inputSchema" | "outputSchema" | "learnedFrom" | "callStyle" | "signature"
>;

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
  const learned = learnedText(tool);
  return (unions) => printDescribedSignature(call, unions, result) + learned;
}

/** A comment on a result whose type no server states: another result may be different. */
function learnedText({ learnedFrom }: CallableTool): string {
  if (learnedFrom === undefined) return "";
  return ` /* result as seen in ${learnedFrom === 1 ? "1 call" : `${learnedFrom} calls`}, not stated by the server */`;
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
