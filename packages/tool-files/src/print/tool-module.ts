import { isObject, type ToolFlag } from "@cem/core";
import { compactJson } from "../canonical-json.ts";
import { clip, harmlessInComment, markFlagged, quote, visibleText } from "../safe-text.ts";
import { withHandles } from "../schema/handle-types.ts";
import { createTypeNames, readSchemaTypes, type SchemaTypes } from "../schema/schema-types.ts";
import { acceptsEmptyObject, NEVER, OPEN_OBJECT, UNKNOWN } from "../schema/type-node.ts";
import type { RawToolDefinition } from "../tool-definition.ts";
import { printDeclaration } from "./print-type.ts";
import { printSignature } from "./signature.ts";

/** The module that exports `callTool` to the generated code, relative to `servers/<server>/`. */
const DEFAULT_CLIENT_MODULE = "../../client/index.ts";

/** Maximum length of a description. All but a handful of 12,000 real tools need less. */
const MAX_DESCRIPTION_CHARACTERS = 20_000;
/** How many times larger than its schemas a module may be; and the size that is always allowed. */
const MAX_GROWTH = 6;
const MAX_COMMENT_GROWTH = 4;
const MIN_SIZE_BOUND_CHARACTERS = 8 * 1024;
const MAX_MODULE_CHARACTERS = 512 * 1024;

/** Names and further input of {@link generateToolModule}. */
export interface ToolModuleNaming {
  /** The name by which calls address the server. */
  server: string;
  /** The name of the exported function, a valid identifier; see `nameTools`. */
  identifier: string;
  /**
   * The specifier of the module that exports `callTool`.
   *
   * @defaultValue `"../../client/index.ts"`
   */
  clientModule?: string | undefined;
  /** Findings of `inspectDescription`. The comment of the function starts with their rules. */
  flags?: readonly ToolFlag[] | undefined;
}

/** A generated TypeScript module. Its texts are printed lazily. */
export interface ToolModule {
  /** The source text. */
  readonly code: string;
  /** The signature on one line: `get_weather(input: { city: string }): Promise<unknown>`. */
  readonly signature: string;
  /** Invalid parts of the schemas, each of which is written as `unknown`. */
  warnings: string[];
}

/**
 * Generates a module with one exported function for a tool and the types of its input and output. No text of the
 * definition becomes code, and size and time are proportional to the size of the definition.
 */
export function generateToolModule(definition: RawToolDefinition, naming: ToolModuleNaming): ToolModule {
  const { identifier } = naming;
  const names = createTypeNames();
  const inputName = names(`${identifier} input`);
  const { outputSchema } = definition;
  const outputName = outputSchema === undefined ? "" : names(`${identifier} output`);
  const input = readSchemaTypes(definition.inputSchema ?? {}, inputName, { names, isInput: true });
  const output =
    outputSchema === undefined
      ? undefined
      : readSchemaTypes(withHandles(outputSchema), outputName, { names, isInput: false });

  // The arguments of a call are always an object.
  const [inputType] = input.types;
  if (inputType.node === UNKNOWN || inputType.node === NEVER) inputType.node = OPEN_OBJECT;
  const optional = inputType.node !== undefined && acceptsEmptyObject(inputType.node);
  const call = { identifier, input: inputType, optional, output: output?.types[0] };
  const parts: ModuleParts = { definition, naming, input, output, optional };
  return {
    get code() {
      return withinBounds(parts);
    },
    get signature() {
      return printSignature(call);
    },
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

/** Prints the module; with unknown types if it would be too large otherwise. */
function withinBounds(parts: ModuleParts): string {
  const detailed = printModule(parts);
  if (detailed.length <= MIN_SIZE_BOUND_CHARACTERS || detailed.length <= sizeBound(parts.definition))
    return detailed;
  const opened = ({ types: [whole] }: SchemaTypes): SchemaTypes => ({
    types: [{ ...whole, node: UNKNOWN }],
    warnings: [],
  });
  return printModule({ ...parts, input: opened(parts.input), output: parts.output && opened(parts.output) });
}

function sizeBound({ description = "", inputSchema, outputSchema }: RawToolDefinition): number {
  const size =
    compactJson([inputSchema, outputSchema], MAX_MODULE_CHARACTERS)?.length ?? MAX_MODULE_CHARACTERS;
  const types = Math.min(Math.max(size * MAX_GROWTH, MIN_SIZE_BOUND_CHARACTERS), MAX_MODULE_CHARACTERS);
  // The description is escaped, and each of its lines becomes a line of a comment.
  return types + Math.min(description.length, MAX_DESCRIPTION_CHARACTERS) * MAX_COMMENT_GROWTH;
}

function printModule({ definition, naming, input, output, optional }: ModuleParts): string {
  const { server, identifier, clientModule = DEFAULT_CLIENT_MODULE } = naming;
  const inputName = input.types[0].name;
  const outputName = output?.types[0].name ?? "unknown";
  const declarations = [input, ...(output === undefined ? [] : [output])].flatMap(({ types }) =>
    types.map((type, index) => printDeclaration(type, index === 0 ? "export " : "")),
  );
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

function functionComment(
  { name, title, description, annotations }: RawToolDefinition,
  { flags = [] }: ToolModuleNaming,
): string {
  const shown = markFlagged(description?.trim() ? description : (title ?? name), flags);
  const lines = harmlessInComment(wholeText(shown)).split("\n");
  if (
    isObject(annotations) &&
    annotations["destructiveHint"] === true &&
    annotations["readOnlyHint"] !== true
  ) {
    lines.push("", "It may delete or overwrite: where nothing else is set, each call needs the user's yes.");
  }
  if (lines.length === 1) return `/** ${lines[0]} */`;
  return ["/**", ...lines.map((line) => ` * ${line}`.trimEnd()), " */"].join("\n");
}

function wholeText(text: string): string {
  const visible = visibleText(text.slice(0, MAX_DESCRIPTION_CHARACTERS * 4));
  const paragraphs = visible.replaceAll(/\n\s*\n\s*/g, "\n\n").trim();
  const shown = clip(paragraphs, MAX_DESCRIPTION_CHARACTERS);
  if (shown === paragraphs && text.length <= MAX_DESCRIPTION_CHARACTERS * 4) return shown;
  return `${shown}\n\nThe rest of this description, beyond ${MAX_DESCRIPTION_CHARACTERS} characters, is in tools.lock.json.`;
}
