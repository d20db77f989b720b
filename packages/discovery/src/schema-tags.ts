import type { JsonSchema, JsonValue } from "@cem/core";
import type { DocComment } from "./doc-comment.ts";
import type { SourceModule } from "./source-module.ts";
import type { ModuleLoader } from "./schema-reader.ts";
import { findDeclaration } from "./find-declaration.ts";
import { literalValue } from "./literal-value.ts";

/** Tags whose value is a number, by their lower-case names. */
const NUMBER_TAGS = new Map([
  ["minimum", "minimum"],
  ["min", "minimum"],
  ["maximum", "maximum"],
  ["max", "maximum"],
  ["exclusiveminimum", "exclusiveMinimum"],
  ["exclusivemaximum", "exclusiveMaximum"],
  ["multipleof", "multipleOf"],
  ["minlength", "minLength"],
  ["maxlength", "maxLength"],
  ["minitems", "minItems"],
  ["maxitems", "maxItems"],
]);

/** Turns a doc comment into schema keywords: description, default, bounds, format, examples. */
export function schemaTags(comment: DocComment, module: SourceModule, load: ModuleLoader): JsonSchema {
  const schema: JsonSchema = {};
  if (comment.summary !== "") schema.description = comment.summary;
  for (const { name, text } of comment.tags) {
    const tag = name.toLowerCase();
    const keyword = NUMBER_TAGS.get(tag);
    if (keyword !== undefined) {
      const number = Number(text);
      if (text !== "" && Number.isFinite(number)) schema[keyword] = number;
    } else if (tag === "default" || tag === "defaultvalue") {
      const value = writtenValue(text, module, load);
      if (value !== undefined) schema.default = value;
    } else if (tag === "example") {
      const value = writtenValue(text, module, load);
      if (value !== undefined) schema.examples = [...(schema.examples ?? []), value];
    } else if (tag === "format" || tag === "pattern" || tag === "title") {
      if (text !== "") schema[tag] = text;
    } else if (tag === "integer" || tag === "int") {
      schema.type = "integer";
    } else if (tag === "deprecated") {
      schema["deprecated"] = true;
      if (text !== "")
        schema.description = [schema.description, `Deprecated: ${text}`].filter(Boolean).join("\n\n");
    }
  }
  return schema;
}

/** Parses a value in a comment: a number, a quoted or bare word, true, false, null, or a constant's name. */
function writtenValue(text: string, module: SourceModule, load: ModuleLoader): JsonValue | undefined {
  const plain = text.replaceAll(/^`+|(?<!`)`+$/g, "").trim();
  if (plain === "" || plain.includes("\n")) return undefined;
  if (plain === "true" || plain === "false") return plain === "true";
  if (plain === "null") return null;
  if (Number.isFinite(Number(plain))) return Number(plain);
  const quoted = /^(["'])(.*)\1$/.exec(plain);
  if (quoted) return quoted[2] ?? "";
  if (!/^\w[\w.-]*$/.test(plain)) return undefined;
  const found = findDeclaration(plain, module, load);
  return found?.kind === "constant" ? literalValue(found.node, found.module, load) : plain;
}
