import { compactJson, TOO_LARGE } from "./canonical-json.ts";
import type { ToolFlag } from "@cem/core";
import { markFlagged } from "./flagged-text.ts";
import { printDeclaration, type PrintSettings } from "./print-type.ts";
import { clip, harmlessInComment, quote, visibleText } from "./safe-text.ts";
import { readSchemaTypes, type SchemaTypes } from "./schema-types.ts";
import type { LearnedOutput } from "./server-lock.ts";
import { printSignature } from "./signature.ts";
import type { RawToolDefinition } from "./tool-definition.ts";
import { createTypeNames } from "./type-names.ts";
import { acceptsEmptyObject, type NamedType, NEVER, OPEN_OBJECT, UNKNOWN } from "./type-node.ts";

/** Where the guest finds the function that calls a tool on the host, seen from `servers/<server>/`. */
export const DEFAULT_CLIENT_MODULE = "../../client/index.ts";

const MAX_DESCRIPTION_CHARACTERS = 1_200;
const MAX_DESCRIPTION_LINES = 30;
/** A module may be this much larger than its definition, and this large in any case. */
const MAX_GROWTH = 6;
const MIN_SIZE_BOUND_CHARACTERS = 8 * 1024;
const MAX_MODULE_CHARACTERS = 512 * 1024;

/** How a tool's module is named and what it calls. */
export interface ToolModuleNaming {
  /** The server's name as the call sends it. */
  server: string;
  /** The exported function: a valid identifier, see `nameTools`. */
  identifier: string;
  /** The module that exports `callTool`. Default: {@link DEFAULT_CLIENT_MODULE}. */
  clientModule?: string | undefined;
  /** What results were seen to be, for a tool whose definition does not say. */
  learned?: LearnedOutput | undefined;
  /** What in its definition seems meant as an order to a model; its comment begins with a mark then. */
  flags?: readonly ToolFlag[] | undefined;
}

/** One tool as a TypeScript module. */
export interface ToolModule {
  /** The module's text. */
  code: string;
  /** The call in one line: `get_weather(input: { city: string }): Promise<unknown>`. */
  signature: string;
  /** What in the schemas could not be said in TypeScript because it is wrong there. */
  warnings: string[];
}

/**
 * Writes a tool as a module with one exported function and its types. Whatever stands in the definition, nothing of
 * it becomes a statement, and the size and the time it takes are in proportion to the definition's own size.
 */
export function generateToolModule(definition: RawToolDefinition, naming: ToolModuleNaming): ToolModule {
  const { identifier, learned } = naming;
  const names = createTypeNames();
  const inputName = names.next(`${identifier} input`);
  const outputSchema = definition.outputSchema ?? learned?.schema;
  const outputName = outputSchema === undefined ? "" : names.next(`${identifier} output`);
  const input = readSchemaTypes(definition.inputSchema ?? {}, inputName, names);
  const output = outputSchema === undefined ? undefined : readSchemaTypes(outputSchema, outputName, names);

  // MCP sends an object, whatever a schema that says nothing else allows.
  const [anything] = input.types;
  if (anything !== undefined && (anything.node === UNKNOWN || anything.node === NEVER))
    anything.node = OPEN_OBJECT;
  const [inputType, outputType] = [whole(input), output && whole(output)];
  const optional = inputType.node !== undefined && acceptsEmptyObject(inputType.node);
  const call = { identifier, input: inputType, optional, output: outputType };
  const parts: ModuleParts = { definition, naming, input, output, optional };
  return {
    code: withinBounds(parts),
    signature: printSignature(call),
    warnings: [...input.warnings, ...(output?.warnings ?? [])],
  };
}

interface ModuleParts {
  definition: RawToolDefinition;
  naming: ToolModuleNaming;
  input: SchemaTypes;
  output: SchemaTypes | undefined;
  optional: boolean;
}

/** The module in as much detail as its size allows. */
function withinBounds(parts: ModuleParts): string {
  const detailed = printModule(parts, { comments: true });
  if (detailed.length <= MIN_SIZE_BOUND_CHARACTERS) return detailed;
  const bound = sizeBound(parts.definition, parts.naming);
  if (detailed.length <= bound) return detailed;
  const plain = printModule(parts, { comments: false });
  if (plain.length <= bound) return plain;
  const opened = (types: SchemaTypes): SchemaTypes => ({
    types: [{ ...whole(types), node: UNKNOWN }],
    warnings: [],
  });
  const output = parts.output && opened(parts.output);
  return printModule({ ...parts, input: opened(parts.input), output }, { comments: false });
}

function sizeBound({ inputSchema, outputSchema }: RawToolDefinition, { learned }: ToolModuleNaming): number {
  const json = compactJson([inputSchema, outputSchema ?? learned?.schema], MAX_MODULE_CHARACTERS);
  const size = json === TOO_LARGE ? MAX_MODULE_CHARACTERS : json.length;
  return Math.min(Math.max(size * MAX_GROWTH, MIN_SIZE_BOUND_CHARACTERS), MAX_MODULE_CHARACTERS);
}

function printModule(parts: ModuleParts, settings: PrintSettings): string {
  const { definition, naming, input, output, optional } = parts;
  const { server, identifier, clientModule = DEFAULT_CLIENT_MODULE } = naming;
  const inputName = whole(input).name;
  const outputName = output === undefined ? "unknown" : whole(output).name;
  const declarations = [
    ...declare(input, settings),
    ...(output === undefined ? [] : declare(output, settings)),
  ];
  return [
    `import { callTool } from ${quote(clientModule)};\n`,
    ...declarations,
    `${functionComment(definition, naming)}
export async function ${identifier}(input: ${inputName}${optional ? " = {}" : ""}): Promise<${outputName}> {
  return callTool<${outputName}>(${quote(server)}, ${quote(definition.name)}, input);
}
`,
  ].join("\n");
}

function declare({ types }: SchemaTypes, settings: PrintSettings): string[] {
  return types.map((type, index) => printDeclaration(type, index === 0 ? "export " : "", settings));
}

function functionComment(
  { name, title, description, outputSchema }: RawToolDefinition,
  { learned, flags = [] }: ToolModuleNaming,
): string {
  const shown = markFlagged(description?.trim() ? description : (title ?? name), flags);
  const text = visibleText(shown.slice(0, MAX_DESCRIPTION_CHARACTERS * 4));
  const paragraphs = clip(text.replaceAll(/\n\s*\n\s*/g, "\n\n").trim(), MAX_DESCRIPTION_CHARACTERS);
  const lines = harmlessInComment(paragraphs).split("\n").slice(0, MAX_DESCRIPTION_LINES);
  if (outputSchema === undefined && learned !== undefined) {
    const results = `${learned.results} observed result${learned.results === 1 ? "" : "s"}`;
    lines.push("", `The result's type was learned from ${results}: the server states none.`);
  }
  if (lines.length === 1) return `/** ${lines[0]} */`;
  return ["/**", ...lines.map((line) => ` * ${line}`.trimEnd()), " */"].join("\n");
}

/** The type of the whole schema: always the first. */
function whole({ types }: SchemaTypes): NamedType {
  const [first] = types;
  if (first === undefined) throw new Error("A schema is read as at least one type.");
  return first;
}
