import type { JsonSchema, ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/core/text";
import { hasType } from "../planning/value.ts";

/** The kind of value that a parameter takes, judged by its name, type and description. */
export type Role = (typeof BY_NAME)[number][1] | "enum" | "boolean" | "number" | "list" | "object" | "text";

export interface Parameter {
  name: string;
  schema: JsonSchema;
  role: Role;
  isRequired: boolean;
  /** Its name as words: `max price`. */
  words: readonly string[];
}

const BY_NAME = [
  [/^sql$|sql (?:query|statement)|^statement$/u, "sql"],
  [/\b(?:path|paths|file|files|filename|filepath|directory|folder|dir)\b/u, "path"],
  [/\b(?:url|uri|link|href|website|webpage|endpoint)\b/u, "url"],
  [/\b(?:email|mail)\b/u, "email"],
  [
    /^(?:to|recipient|recipients|receiver|cc|bcc|attendee|attendees|assignee|user|username|person|contact)$/u,
    "person",
  ],
  [/\b(?:date|datetime|start|end|deadline|due|when|day|since|until|before|after|timestamp)\b/u, "date"],
  [/\b(?:location|city|cities|place|address|destination|origin|country|region|town)\b/u, "place"],
  [/\bchannel\b/u, "channel"],
  [/^(?:owner|org|organization|organisation)$/u, "owner"],
  [/\b(?:repo|repository)\b/u, "repository"],
  [/\b(?:id|ids|key|code|symbol|ticker|isbn|uuid|sku|hash|number|currency|timezone)\b/u, "identifier"],
  [/\b(?:name|names|label|language|title|artist|author|entity|entities)\b/u, "name"],
] as const;

/** `source` and `destination` of `move_file` */
const DIRECTED = /^(?:source|destination|from|to|src|dst|target|old|new)$/u;

const read = new WeakMap<ToolDefinition, readonly Parameter[]>();

export function readParameters(tool: ToolDefinition): readonly Parameter[] {
  const known = read.get(tool);
  if (known !== undefined) return known;
  const required = new Set(tool.inputSchema.required ?? []);
  const isAboutFiles = splitWords(tool.name).some((word) => /^(?:files?|directory|folder|path)$/u.test(word));
  const parameters = Object.entries(tool.inputSchema.properties ?? {}).map(([name, schema]): Parameter => ({
    name,
    schema,
    role: isAboutFiles && DIRECTED.test(name) ? "path" : roleOf(name, schema),
    isRequired: required.has(name),
    words: splitWords(name),
  }));
  read.set(tool, parameters);
  return parameters;
}

function roleOf(name: string, schema: JsonSchema): Role {
  const words = splitWords(name).join(" ");
  const isText = hasType(schema, "string");
  if (enumOf(schema).length > 0) return "enum";
  if (hasType(schema, "boolean") && !isText) return "boolean";
  if (hasType(schema, "number", "integer") && !isText) return "number";
  if (hasType(schema, "object") && !isText) return "object";
  if (hasType(schema, "array") && !isText && !hasType(schema.items ?? {}, "string")) return "list";
  const description = (schema.description ?? "").toLowerCase().slice(0, 500);
  const { format } = schema;
  if (format === "email") return "email";
  if (format === "uri" || format === "url") return "url";
  if (format === "date" || format === "date-time") return "date";
  if (/^(?:query|q|statement)$/u.test(words) && /\bsql\b/u.test(description)) return "sql";
  const found = BY_NAME.find(([pattern]) => pattern.test(words));
  if (found !== undefined) return found[1];
  if (/\b(?:city|place|location)\b/u.test(description)) return "place";
  return /\biso 8601\b|yyyy-mm-dd/u.test(description) ? "date" : "text";
}

export function enumOf(schema: JsonSchema): readonly (string | number)[] {
  const own = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const parts = (schema.anyOf ?? []).flatMap(
    (part) => part.enum ?? (part.const === undefined ? [] : [part.const]),
  );
  return [...own, ...parts].filter((value) => typeof value === "string" || typeof value === "number");
}

export function sqlParameter(tool: ToolDefinition): Parameter | undefined {
  return readParameters(tool).find(({ role }) => role === "sql");
}

const PAGE_PARAMETER =
  /^(?:limit|(?:max|min)?_?(?:count|results?|items|rows|entries|records)|(?:max|num|number|n)(?:_of)?_?\w*(?:results?|items|count|entries|records)|page|cursor|offset|skip|start|top|first|last|head|tail|take|size|(?:per|results)_?(?:per_)?page|page_?(?:size|token|number)|(?:next|continuation)_?(?:token|cursor)|after|before|topk|top_k|k|n)$/u;
const PAGE_TEXT =
  /\b(?:paginat\w*|pages? (?:size|of results)|per page|cursor|at most \d+|up to \d+|(?:first|last|top|latest|most recent) \d+|max(?:imum)? (?:number|of)|limit(?:ed)? (?:to|the number)|truncat\w*)/iu;
const PAGE_FIELD = /^(?:next\w*|has_?more|\w*cursor|total\w*|is_?truncated|incomplete\w*|page|pages)$/iu;

/** Whether a result of a tool may be one of several pages, so that it must not be counted or filtered. */
export function mayBeOnePage(tool: ToolDefinition): boolean {
  const names = Object.keys(tool.inputSchema.properties ?? {});
  const isPaged = names.some((name) => PAGE_PARAMETER.test(splitWords(name).join("_")));
  const described = [
    tool.description,
    ...Object.values(tool.inputSchema.properties ?? {}).map(({ description }) => description),
  ];
  const output = tool.outputSchema ?? {};
  return (
    isPaged ||
    described.some((text) => text !== undefined && PAGE_TEXT.test(text)) ||
    Object.keys(output.properties ?? {}).some((field) => PAGE_FIELD.test(field))
  );
}
