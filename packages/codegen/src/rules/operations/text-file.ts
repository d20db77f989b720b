import type { ToolDefinition } from "@cem/core";
import { findQuotes, type TaskStep } from "@cem/text";
import { asText } from "../arguments/convert.ts";
import { readParameters, sqlParameter } from "../arguments/roles.ts";
import { describedTables, findTable } from "./tables.ts";
import { PATH } from "../arguments/take-by-role.ts";
import { derivePath, findPath, pathsIn } from "./paths.ts";
import { kindOfTool } from "../matching/verb-classes.ts";
import { splitWords } from "@cem/text";
import { type Plan, Unfilled } from "../planning/plan.ts";
import { findReference } from "../planning/references.ts";
import { hasType } from "../planning/value.ts";
import { type Expression, literal, template } from "../program/expression.ts";
import { callFileSystem, makeFolder } from "./files.ts";
import type { StepContext } from "./operation.ts";

const WRITING = /^(?:write|save|create|make|store|put|append|add|export|dump|generate)\b/iu;
const READING = /^(?:read|open|load|show|print|display|cat|get|fetch)\b/iu;

/** Reads, writes, appends to and lists text files, with the tools for it where they are chosen, else by itself. */
export function planTextFile(context: StepContext): boolean {
  if (context.matches.some((match) => match.isStrong && !isFileTool(match.tool))) return false;
  return (
    planReadBoth(context) ||
    planCopy(context) ||
    planAppend(context) ||
    planWrite(context) ||
    planReadBack(context) ||
    planRead(context) ||
    planList(context)
  );
}

const COPY = new RegExp(
  `^(?:copy|duplicate)\\s+(?:the\\s+)?(?:file\\s+)?["'\`]?(${PATH.source})["'\`]?\\s+(?:to|into|as)\\s+(?:the\\s+)?(?:file\\s+)?["'\`]?(${PATH.source})["'\`]?$`,
  "iu",
);

function planCopy({ step, plan }: StepContext): boolean {
  const [, from, to] = COPY.exec(step.text) ?? [];
  if (from === undefined || to === undefined || to.endsWith("/")) return false;
  makeFolder(plan, to);
  plan.add({ kind: "do", value: callFileSystem(plan, "copyFile", literal(from), literal(to)) });
  plan.lastPath = to;
  return true;
}

function planAppend({ step, plan }: StepContext): boolean {
  if (!/^(?:append|add)\b/iu.test(step.text)) return false;
  const path = findPath(step.text) ?? (/\b(?:it|the file)\s*$/iu.test(step.text) ? plan.lastPath : undefined);
  if (path === undefined) return false;
  const content = readContent(step.text.replace(path, ""), plan, true);
  if (content === undefined) throw noContent(step, path);
  plan.add({ kind: "do", value: callFileSystem(plan, "appendFile", literal(path), content) });
  plan.lastPath = path;
  return true;
}

function planWrite({ step, plan }: StepContext): boolean {
  if (!WRITING.test(step.text)) return false;
  const named = findPath(step.text);
  const path = named ?? derivePath(step.text) ?? sameFile(step, plan);
  if (path === undefined) return false;
  const content =
    readContent(named === undefined ? step.text : step.text.replace(named, ""), plan, false) ??
    askForContent(step.text, path, plan);
  if (content === undefined || hasSeveralTexts(step.text, path)) throw noContent(step, path);
  const tool = findFileTool(plan.tools, "write");
  if (tool === undefined) {
    makeFolder(plan, path);
    plan.add({ kind: "do", value: callFileSystem(plan, "writeFile", literal(path), content) });
  } else {
    const args = new Map([
      [pathParameter(tool), literal(path)],
      [contentParameter(tool) ?? "content", content],
    ]);
    plan.declare(plan.callTool(tool, args), {
      words: "written",
      schema: tool.outputSchema ?? {},
      isEffect: true,
    });
  }
  plan.lastPath = path;
  return true;
}

/** `…, otherwise write 'cold'`: into the file that the other branch writes. */
function sameFile({ text, condition }: TaskStep, plan: Plan): string | undefined {
  const isBare =
    condition?.holds === false &&
    /^(?:write|save|put|store)\s+(["'`]).*\1(?:\s+(?:to|into) (?:it|the file))?$/iu.test(text);
  return isBare ? plan.lastPath : undefined;
}

const UNNAMED_FILE =
  /^(?:write|save|store|put|export|dump)\s+(.+?)\s+(?:to|in|into|as)\s+(?:an?|the|another)\s+(?:\p{L}+\s+){0,3}file$/isu;

/** `write the weather of Rome to rome.txt`, `… to a file`: what is to be written has to be asked for first. */
function askForContent(text: string, path: string, plan: Plan): Expression | undefined {
  const before = text.slice(0, Math.max(0, text.indexOf(path)));
  const words =
    UNNAMED_FILE.exec(text)?.[1] ??
    /^(?:write|save|store|put|export|dump)\s+(.+?)\s+(?:to|in|into|as)\s+(?:the\s+|a\s+)?(?:file\s+)?(?:called\s+|named\s+)?["'`]?$/isu.exec(
      before,
    )?.[1];
  if (words === undefined || findQuotes(words).length > 0 || !plan.ask(`get ${words}`)) return undefined;
  const asked = plan.values.at(-1);
  if (asked === undefined) return undefined;
  asked.consumed = true;
  return asText(asked.expression, asked.schema);
}

/** Two texts for one file: which of them, and joined how, the text does not say. */
function hasSeveralTexts(text: string, path: string): boolean {
  return findQuotes(text).filter((quote) => quote.value !== path).length > 1;
}

function noContent(step: TaskStep, path: string): Unfilled {
  return new Unfilled({
    step: step.text,
    reason: "missing-argument",
    argument: "content",
    hint: `Say what to write to ${path}, as one text in quotes.`,
  });
}

function readContent(text: string, plan: Plan, isLine: boolean): Expression | undefined {
  const quote = findQuotes(text).find((one) => !/^[\s/.]+$/u.test(one.value));
  if (quote !== undefined)
    return literal(isLine && !quote.value.endsWith("\n") ? `${quote.value}\n` : quote.value);
  const words =
    /^(?:write|save|store|put|append|add|export|dump)\s+(.+?)\s*(?:\s(?:to|in|into|as|at)\b.*)?$/isu.exec(
      text,
    )?.[1];
  const after =
    /\b(?:with|containing|that contains|saying)\s+(?:the\s+)?(?:content|contents|text)?\s*:?\s*(.+)$/isu.exec(
      text,
    )?.[1];
  const both = words === undefined ? undefined : readBoth(words, plan);
  if (both !== undefined) return both;
  for (const candidate of [after, words]) {
    const reference = candidate === undefined ? undefined : findReference(candidate.trim(), plan);
    if (reference === undefined) continue;
    return asText(reference.expression, reference.schema);
  }
  const named = /\b(?:content|text|contents)\s*:\s*(.+)$/isu.exec(text)?.[1];
  return named === undefined ? undefined : literal(named.trim());
}

/** `both`, where there are exactly two results, or one list: one below the other. */
function readBoth(words: string, plan: Plan): Expression | undefined {
  if (!/^both(?: of them)?(?: (?:the )?(?:results|texts|values|contents|files))?$/iu.test(words.trim()))
    return undefined;
  const results = plan.values.filter(
    ({ isEffect, consumed, document }) =>
      !isEffect && !consumed && (document === undefined || (document.isLoaded && !document.isDirty)),
  );
  const [first, second] = results;
  if (first === undefined || results.length > 2) return undefined;
  for (const value of results) value.consumed = true;
  if (second === undefined) {
    return hasType(first.schema, "array") ? asText(first.expression, first.schema) : undefined;
  }
  return template(
    asText(first.expression, first.schema),
    "\n",
    asText(second.expression, second.schema),
    "\n",
  );
}

/** `read it back`: the file that was written. */
function planReadBack({ step, plan }: StepContext): boolean {
  if (
    !/^(?:re-?read|read|open|load|get|fetch)\s+(?:it|the file|that file|this file|its contents?|the contents?(?: of (?:it|the file))?)(?:\s+(?:back|again))?(?:\s+in)?$/iu.test(
      step.text,
    )
  )
    return false;
  if (plan.lastPath === undefined) {
    if (!/\bfile\b/iu.test(step.text)) return false;
    throw new Unfilled({
      step: step.text,
      reason: "missing-argument",
      argument: "path",
      hint: "Name the file to read.",
    });
  }
  readText(plan, plan.lastPath);
  return true;
}

/** `read both files`, where the steps before named exactly two. */
function planReadBoth({ step, plan }: StepContext): boolean {
  const isMeant =
    /^(?:re-?read|read|open|load|print|show|display)\s+(?:both|both of them|both (?:of )?(?:the )?files|the two files)(?:\s+(?:back|again))?$/iu;
  if (!isMeant.test(step.text) || plan.paths.size !== 2) return false;
  for (const path of plan.paths) readText(plan, path);
  return true;
}

function planRead({ step, plan }: StepContext): boolean {
  if (asksTable(step.text, plan)) return false;
  const path = READING.test(step.text) ? findPath(step.text) : undefined;
  if (path === undefined || !/\.\w{1,5}$/u.test(path)) return false;
  for (const one of pathsIn(step.text)) readText(plan, one);
  plan.lastPath = path;
  return true;
}

/** `get the users whose email ends with example.org` is about no file. */
function asksTable(text: string, plan: Plan): boolean {
  if (/^(?:read|open|load|cat)\b|\bfile\b/iu.test(text)) return false;
  const words = splitWords(text);
  return plan.tools.some((tool) => {
    const tables = sqlParameter(tool) === undefined ? new Map<string, unknown>() : describedTables(tool);
    return words.some((word) => findTable(word, tables.keys()) !== undefined);
  });
}

/** Reads a text file, with the tool for it where there is one. */
export function readText(plan: Plan, path: string): void {
  const tool = findFileTool(plan.tools, "read");
  const expression =
    tool === undefined
      ? callFileSystem(plan, "readFile", literal(path), literal("utf8"))
      : plan.callTool(tool, new Map([[pathParameter(tool), literal(path)]]));
  plan.declare(expression, { words: "content", schema: tool?.outputSchema ?? { type: "string" } });
}

function planList({ step, plan, matches }: StepContext): boolean {
  if (
    !/^(?:list|show|display|get|what)\b.*\b(?:files?|director(?:y|ies)|folders?|contents)\b/iu.test(step.text)
  )
    return false;
  if (matches.length > 0) return false;
  const path =
    /(?<![\p{L}\p{N}])\/[\p{L}\p{N}_./-]*/u.exec(step.text)?.[0] ??
    (/\bworkspace\b|\bcurrent\b|files$/iu.test(step.text) ? "/workspace" : undefined);
  if (path === undefined) return false;
  plan.declare(callFileSystem(plan, "readdir", literal(path)), {
    words: "files",
    schema: { type: "array", items: { type: "string" } },
  });
  return true;
}

function isFileTool(tool: ToolDefinition): boolean {
  return (
    readParameters(tool).some((one) => one.role === "path") ||
    kindOfTool(splitWords(tool.name)) === "compute" ||
    splitWords(tool.name).length === 1
  );
}

/** The tool that reads or writes a file, by its name and parameters. */
function findFileTool(tools: readonly ToolDefinition[], kind: "read" | "write"): ToolDefinition | undefined {
  return tools.find((tool) => {
    const words = splitWords(tool.name);
    const parameters = readParameters(tool);
    const required = parameters.filter((one) => one.isRequired);
    const isFile =
      words.some((word) => /^(?:file|files|text)$/u.test(word)) &&
      parameters.some((one) => one.role === "path");
    const fits =
      kind === "read"
        ? required.length === 1 && required[0]?.role === "path"
        : contentParameter(tool) !== undefined && required.length === 2;
    return isFile && kindOfTool(words) === kind && fits && !words.includes("multiple");
  });
}

function pathParameter(tool: ToolDefinition): string {
  return readParameters(tool).find((one) => one.role === "path")?.name ?? "path";
}

function contentParameter(tool: ToolDefinition): string | undefined {
  return readParameters(tool).find((one) => one.role === "message" && hasType(one.schema, "string"))?.name;
}
