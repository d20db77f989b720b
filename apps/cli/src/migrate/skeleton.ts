import { parseDocstring } from "./docstring.ts";
import { isOptional, listOf, toTypeScriptType } from "./python-module.ts";
import type { PythonFunction, PythonParameter } from "./python-module.ts";

const RESERVED = new Set(
  "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield then constructor".split(
    " ",
  ),
);

/** A name in Python as one in TypeScript: those that mean something there get a `_`. */
export function toIdentifier(name: string): string {
  const valid = name.replaceAll(/[^\p{ID_Continue}$]/gu, "_").replace(/^(?!\p{ID_Start}|[_$])/u, "_");
  return RESERVED.has(valid) ? `${valid}_` : valid;
}

/**
 * A function in TypeScript with the signature and the comments of one in Python, which throws until it is written.
 *
 * @param file - The name of the file in Python, for the message.
 */
export function functionSkeleton(own: PythonFunction, file: string): string {
  const { summary, parameters: about, returns } = parseDocstring(own.docstring);
  const name = toIdentifier(own.name);
  const members = own.parameters.map((parameter) => member(parameter, about.get(parameter.name) ?? ""));
  const input = inputName(name);
  const result = own.returns === undefined ? "unknown" : toTypeScriptType(own.returns);
  const isAnyOptional = own.parameters.every((parameter) => isOmittable(parameter));
  const shape =
    members.length === 0
      ? ""
      : `/** What {@link ${name}} takes. */\nexport interface ${input} {\n${members.join("\n")}\n}\n\n`;
  const parameter = members.length === 0 ? "" : `input: ${input}${isAnyOptional ? " = {}" : ""}`;
  const body = [
    ...(members.length === 0 ? [] : ["  void input;"]),
    `  throw new Error(${JSON.stringify(`${own.name} is not written in TypeScript yet: see ${file}:${own.line}.`)});`,
  ];
  return `${shape}${comment([summary === "" ? `${own.name}, as in ${file}.` : summary, ...(returns === "" ? [] : [`@returns ${returns}`])], "")}
export async function ${name}(${parameter}): Promise<${result === "null" ? "void" : result}> {
${body.join("\n")}
}
`;
}

function member(parameter: PythonParameter, about: string): string {
  const { name, annotation, standard, kind } = parameter;
  const type = annotation === undefined ? typeOfDefault(standard) : toTypeScriptType(annotation);
  const notes = [
    about,
    standard === undefined || standard === "None" ? "" : `Default in Python: \`${standard}\`.`,
  ];
  const lines = notes.filter((note) => note !== "").join(" ");
  const doc = lines === "" ? "" : `${comment([lines], "  ")}\n`;
  if (kind === "keywords") return `${doc}  [name: string]: unknown;`;
  const key = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name) ? name : JSON.stringify(name);
  if (kind === "rest") return `${doc}  ${key}?: ${listOf(annotation === undefined ? "unknown" : type)};`;
  return `${doc}  ${key}${isOmittable(parameter) ? "?" : ""}: ${type};`;
}

function isOmittable({ annotation, standard, kind }: PythonParameter): boolean {
  return kind !== "plain" || standard !== undefined || (annotation !== undefined && isOptional(annotation));
}

function typeOfDefault(standard: string | undefined): string {
  if (standard === undefined || standard === "None") return "unknown";
  if (/^["']/u.test(standard)) return "string";
  if (standard === "True" || standard === "False") return "boolean";
  if (/^-?\d/u.test(standard)) return "number";
  return standard.startsWith("[") ? "unknown[]" : "unknown";
}

function inputName(name: string): string {
  const words = name.split("_").filter((word) => word !== "");
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}Input`;
}

/** A doc comment of these paragraphs. What would end it is written otherwise. */
export function comment(paragraphs: readonly string[], indent: string): string {
  const text = paragraphs.join("\n\n").replaceAll("*/", String.raw`*\/`);
  const lines = text.split("\n");
  if (lines.length === 1) return `${indent}/** ${text} */`;
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join("\n");
}
