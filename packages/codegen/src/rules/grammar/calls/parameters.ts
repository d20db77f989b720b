import type { JsonSchema, ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/text";
import { hasType } from "../../planning/value.ts";

/** What a parameter wants, judged by its name, type and description. */
export type Role =
  | "enum"
  | "boolean"
  | "number"
  | "list"
  | "object"
  | "sql"
  | "expression"
  | "path"
  | "url"
  | "email"
  | "date"
  | "place"
  | "query"
  | "message"
  | "title"
  | "channel"
  | "owner"
  | "repository"
  | "recipient"
  | "table"
  | "identifier"
  | "language"
  | "currency"
  | "text";

export interface Parameter {
  name: string;
  schema: JsonSchema;
  role: Role;
  isRequired: boolean;
  /** Its name as words: `max price`. */
  words: readonly string[];
}

const BY_NAME: readonly [RegExp, Role][] = [
  [/^sql$|sql (?:query|statement)|^statement$/u, "sql"],
  [/\bcurrency\b/u, "currency"],
  [/^(?:expression|formula|equation|calculation|math)$/u, "expression"],
  [/\b(?:path|file|filename|filepath|directory|folder|dir)\b/u, "path"],
  [/\b(?:url|uri|link|href|website|webpage|endpoint)\b/u, "url"],
  [/\b(?:email|mail)\b/u, "email"],
  [
    /\b(?:to|recipient|recipients|receiver|cc|bcc|attendee|attendees|invitees|assignee|user|username|person|contact)\b/u,
    "recipient",
  ],
  [
    /\b(?:date|datetime|start|end|begin|deadline|due|when|day|time|since|until|before|after|timestamp)\b/u,
    "date",
  ],
  [
    /\b(?:location|city|cities|place|address|destination|origin|country|region|town|state|area|venue|room)\b/u,
    "place",
  ],
  [/\bchannel\b/u, "channel"],
  [/^(?:owner|org|organization|organisation)$/u, "owner"],
  [/\b(?:repo|repository|project)\b/u, "repository"],
  [/\b(?:table|collection|dataset)\b/u, "table"],
  [/\b(?:language|lang|locale)\b/u, "language"],
  [
    /^(?:query|q|search|keyword|keywords|term|terms|topic|question|prompt|pattern|search query|search term)$/u,
    "query",
  ],
  [
    /\b(?:text|message|body|content|contents|comment|description|note|input|string|data|sentence|markdown|html)\b/u,
    "message",
  ],
  [/\b(?:title|subject|summary|headline|heading)\b/u, "title"],
  [/\b(?:id|key|code|symbol|ticker|isbn|uuid|sku|slug|hash|number)\b/u, "identifier"],
  [/^(?:name|label|full name|display name)$/u, "title"],
];

export function readParameters(tool: ToolDefinition): Parameter[] {
  const required = new Set(tool.inputSchema.required ?? []);
  return Object.entries(tool.inputSchema.properties ?? {}).map(([name, schema]) => ({
    name,
    schema,
    role: roleOf(name, schema),
    isRequired: required.has(name),
    words: splitWords(name),
  }));
}

function roleOf(name: string, schema: JsonSchema): Role {
  if (enumOf(schema).length > 0) return "enum";
  if (hasType(schema, "boolean") && !hasType(schema, "string")) return "boolean";
  if (hasType(schema, "number", "integer") && !hasType(schema, "string")) return "number";
  if (hasType(schema, "array") && !hasType(schema, "string")) return "list";
  if (hasType(schema, "object") && !hasType(schema, "string")) return "object";
  const description = (schema.description ?? "").toLowerCase().slice(0, 500);
  const { format } = schema;
  if (format === "email" || format === "uri" || format === "url") return format === "email" ? "email" : "url";
  if (format === "date" || format === "date-time" || format === "time") return "date";
  const words = splitWords(name).join(" ");
  if (/^(?:query|q|statement)$/u.test(words) && /\bsql\b/u.test(description)) return "sql";
  if (/^(?:query|input|q)$/u.test(words) && /mathematical|arithmetic|math expression/u.test(description))
    return "expression";
  const found = BY_NAME.find(([pattern]) => pattern.test(words));
  if (found !== undefined) return found[1];
  if (/\b(?:city|place|location)\b/u.test(description)) return "place";
  if (/\biso 8601\b|yyyy-mm-dd/u.test(description)) return "date";
  return "text";
}

/** The values a parameter is limited to. */
export function enumOf(schema: JsonSchema): readonly (string | number)[] {
  const own = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const parts = (schema.anyOf ?? []).flatMap(
    (part) => part.enum ?? (part.const === undefined ? [] : [part.const]),
  );
  return [...own, ...parts].filter((value) => typeof value === "string" || typeof value === "number");
}

/** The parameter that takes SQL, where a tool has one. */
export function sqlParameter(tool: ToolDefinition): Parameter | undefined {
  return readParameters(tool).find((parameter) => parameter.role === "sql");
}
