import { copyWholeWords, FORMAT_EXAMPLES, type FailedTool } from "@cem/core";
import { nearest } from "@cem/core/text";

/** The role of a value for its tool, which decides the wording of a violation. */
export type Subject = "arguments" | "result";

/** The first violation of the schema of arguments or of a result. */
export interface Violation {
  /** Where it is: `filter.limit` in arguments, as in code, and a JSON Pointer such as `/items/3` in a result; or empty. */
  path: string;
  /** The violation, in words. Never contains the value of an argument; a result's value is shown, shortened. */
  message: string;
  /** Set where the value was too large or too deeply nested to be checked, so that it may be valid. */
  unchecked?: true;
}

export function joinPath(path: string, part: string, subject: Subject): string {
  if (subject === "result") return `${path}/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  if (path === "") return part;
  return /^\d+$/.test(part) ? `${path}[${part}]` : `${path}.${part}`;
}

export function asSentence(message: string): string {
  return message.endsWith("?") ? message : `${message}.`;
}

/** A tool whose arguments or results go unchecked, with the reason as a clause. */
export interface Unvalidated extends FailedTool {
  /** The part that is not checked. */
  subject: Subject;
  reason: string;
}

/** Receives each tool whose arguments or results can't be checked, once for each of the two. */
export type OnUnvalidated = (tool: Unvalidated) => void;

export function onceForEachTool(
  subject: Subject,
  listener: OnUnvalidated | undefined,
): (tool: FailedTool, reason: string) => void {
  const reported = new Set<string>();
  return ({ server, tool }, reason) => {
    const key = JSON.stringify([server, tool]);
    if (!reported.has(key)) listener?.({ server, tool, subject, reason });
    reported.add(key);
  };
}

/** The used fields of the schema validator's error. The library is bundled, so its types are not public. */
interface SchemaError {
  keyword: string;
  instancePath: string;
  params: object;
  message?: string | undefined;
  schema?: unknown;
  parentSchema?: object | undefined;
  data?: unknown;
}

const MAX_LISTED = 20;
const MAX_COMPARED = 1_000;
const MAX_VALUE_CHARACTERS = 60;
const MAX_NAME_CHARACTERS = 200;

const WORDS = {
  arguments: { whole: "they", have: "have", unknown: "is not an argument" },
  result: { whole: "it", have: "has", unknown: "is not in the schema" },
} as const;

/** Describes a violation: the place, what is allowed and, for a result, the value. Those of arguments may be secret. */
export function describeViolation(error: SchemaError, subject: Subject = "arguments"): Violation {
  const path = toPath(error.instancePath, subject);
  const params = error.params as Record<string, unknown>;
  const violation = (what: string): Violation => {
    const place = path === "" ? WORDS[subject].whole : quote(path);
    const verb = path === "" ? what.replace(/^has /, `${WORDS[subject].have} `) : what;
    return { path, message: `${place} ${verb}${subject === "result" ? whatCame(error.data) : ""}` };
  };
  switch (error.keyword) {
    case "required": {
      const missing = missingOf(error);
      const names = missing.map((name) => quote(joinPath(path, name, subject)));
      const message = names.length === 1 ? `${names[0]} is missing` : `${names.join(" and ")} are missing`;
      const where = joinPath(path, missing[0] ?? "", subject);
      return { path: where, message: message + misspelling(error, missing, subject) };
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(params["additionalProperty"] ?? params["unevaluatedProperty"]);
      const known = propertiesOf(error);
      const [near] = nearest(name, known);
      const allowed = [...known, ...patternsOf(error).map((pattern) => `names that match ${pattern}`)];
      const hint = near === undefined ? `allowed: ${list(allowed)}` : `did you mean ${quote(near)}?`;
      const where = joinPath(path, name, subject);
      return { path: where, message: `${quote(where)} ${WORDS[subject].unknown}; ${hint}` };
    }
    case "enum":
      return violation(`must be one of ${list((params["allowedValues"] as unknown[]).map(show))}`);
    case "const":
      return violation(`must be ${show(params["allowedValue"])}`);
    case "type":
      return violation(`must be ${typeName(params["type"])}, not ${kindOf(error.data)}`);
    case "anyOf":
    case "oneOf":
      return violation(`has none of the allowed forms${formsOf(error)}`);
    case "pattern":
      return violation(`must match the pattern ${String(params["pattern"]).slice(0, MAX_NAME_CHARACTERS)}`);
    case "format": {
      const format = String(params["format"]);
      const example = Object.hasOwn(FORMAT_EXAMPLES, format) ? `, such as ${FORMAT_EXAMPLES[format]}` : "";
      return violation(`must be a valid ${format}${example}`);
    }
    case "not":
      return violation(`must not fit ${show(error.schema)}`);
    case "false schema":
      return violation("is not allowed");
    case "uniqueItems":
      return violation("must not have the same item twice");
    default:
      return violation(error.message ?? "is not valid");
  }
}

/** Shows a scalar only, since a list or an object is not informative in one line. */
function whatCame(value: unknown): string {
  const isShown = value !== null && ["string", "number", "boolean"].includes(typeof value);
  return isShown ? `: it is ${show(value)}` : "";
}

function toPath(pointer: string, subject: Subject): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => joinPath(path, part, subject), "");
}

/** All missing properties. The validator reports only the first. */
function missingOf({ schema, data }: SchemaError): string[] {
  const required = (schema as unknown[]).map(String);
  return required.filter((name) => !Object.hasOwn(data as object, name));
}

/** Suggests an unknown property for a missing one: together they are most often a misspelling. */
function misspelling(error: SchemaError, [missing, ...others]: string[], subject: Subject): string {
  if (missing === undefined || others.length > 0) return "";
  const known = new Set(propertiesOf(error));
  const unknown = Object.keys(error.data as object)
    .slice(0, MAX_COMPARED)
    .filter((name) => !known.has(name));
  const [near] = nearest(missing, unknown);
  return near === undefined ? "" : `; ${quote(near)} ${WORDS[subject].unknown}`;
}

function propertiesOf({ parentSchema }: SchemaError): string[] {
  const { properties = {} } = parentSchema as { properties?: object };
  return Object.keys(properties);
}

function patternsOf({ parentSchema }: SchemaError): string[] {
  const { patternProperties = {} } = parentSchema as { patternProperties?: object };
  return Object.keys(patternProperties).map((pattern) => pattern.slice(0, MAX_NAME_CHARACTERS));
}

/** The allowed forms, if each can be described briefly: by its type, its value or the properties of its objects. */
function formsOf({ schema }: SchemaError): string {
  const forms = (schema as unknown[]).map(formOf);
  return forms.every((form) => form !== undefined) ? `: ${list([...new Set(forms)])}` : "";
}

interface FormSchema {
  type?: unknown;
  const?: unknown;
  properties?: Record<string, FormSchema | boolean>;
  required?: string[];
}

function formOf(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const { type, properties, required = [], ...rest } = schema as FormSchema;
  if ("const" in rest) return show(rest.const);
  if (properties === undefined) return typeof type === "string" ? type : undefined;
  const members = Object.entries(properties).map(([name, member]) => {
    const value = typeof member === "object" && "const" in member ? `: ${show(member.const)}` : "";
    return `${name.slice(0, MAX_NAME_CHARACTERS)}${required.includes(name) ? "" : "?"}${value}`;
  });
  return `{ ${list(members)} }`;
}

function typeName(type: unknown): string {
  if (Array.isArray(type)) return type.map(typeName).join(" or ");
  return type === "null" ? "null" : `${/^[aeiou]/.test(String(type)) ? "an" : "a"} ${String(type)}`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return typeName(Array.isArray(value) ? "array" : typeof value);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length <= MAX_VALUE_CHARACTERS ? text : `${copyWholeWords(text, MAX_VALUE_CHARACTERS)}…`;
}

function list(values: readonly string[]): string {
  if (values.length === 0) return "none";
  const shown = values.slice(0, MAX_LISTED).join(", ");
  return values.length <= MAX_LISTED ? shown : `${shown} and ${values.length - MAX_LISTED} more`;
}

function quote(name: string): string {
  return `\`${name.slice(0, MAX_NAME_CHARACTERS)}\``;
}
