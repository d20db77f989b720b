import { createHash } from "node:crypto";
import type { ErrorInfo, Finding, GenerateFeedback, GenerateRequest, ToolDefinition } from "@cem/core";
import { signaturesOf } from "@cem/tool-files/answers";
import { readPrompt } from "../prompt-files.ts";
import type { Message } from "./completion.ts";

const CONTROL_OR_SEPARATOR = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/** Encloses untrusted text in delimiters from its digest: it can't contain them, and equal texts keep a prompt cache valid. */
function fence(text: string): string {
  const mark = `data-${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
  return `<${mark}>\n${text}\n</${mark}>`;
}

/** Reduces text to one line, without control and invisible characters, truncated to a length in UTF-16 units. */
function oneLine(text: string, maxCharacters: number): string {
  const line = text.replaceAll(CONTROL_OR_SEPARATOR, " ").replaceAll(/\s+/gu, " ").trim();
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters - 1)}…` : line;
}

const MAX_OUTPUT_CHARACTERS = 1_000;
const MAX_CALL_CHARACTERS = 400;
const MAX_CALLS = 30;
const MAX_LINE_CHARACTERS = 160;
/** Maximum number of findings, since models repair the first problem. */
const MAX_FINDINGS = 30;

function repairMessage(feedback: GenerateFeedback): string {
  const { code, findings = [], error, output = "", calls = [], returnedNothing, addedTools = [] } = feedback;
  const parts: string[] = [];
  const errors = findings.filter(({ severity }) => severity === "error");
  if (errors.length > 0) parts.push(`It was not run:\n${fence(findingLines(errors, code))}`);
  if (error !== undefined) parts.push(`It ran and failed:\n${fence(errorLines(error, code))}`);
  if (returnedNothing === true) parts.push(readPrompt("returned-nothing"));
  const warnings = findings.filter(({ severity }) => severity === "warning");
  if (warnings.length > 0) parts.push(`Perhaps because of this:\n${fence(findingLines(warnings, code))}`);
  if (output !== "") parts.push(`It printed:\n${fence(output.slice(-MAX_OUTPUT_CHARACTERS))}`);
  if (calls.length > 0) parts.push(`${readPrompt("calls-made")}\n${fence(callLines(calls))}`);
  if (addedTools.length > 0) parts.push(`Tools that are new in the list: ${addedTools.join(", ")}.`);
  return [...parts, readPrompt("repair")].join("\n\n");
}

function findingLines(findings: readonly Finding[], code: string): string {
  const lines = code.split("\n");
  const told = findings.slice(0, MAX_FINDINGS).map(({ line, message }) => {
    const place = line === undefined ? "" : `Line ${line}: `;
    return `${place}${message}${sourceAt(line, lines)}`;
  });
  return told.join("\n");
}

function errorLines({ details, message }: ErrorInfo, code: string): string {
  const { line } = details;
  return `${message}${sourceAt(typeof line === "number" ? line : undefined, code.split("\n"))}`;
}

function sourceAt(line: number | undefined, lines: readonly string[]): string {
  const source = line === undefined ? "" : oneLine(lines[line - 1] ?? "", MAX_LINE_CHARACTERS);
  return source === "" ? "" : `\n  ${source}`;
}

function callLines(calls: NonNullable<GenerateFeedback["calls"]>): string {
  const left = calls.length - MAX_CALLS;
  const lines = calls.slice(0, MAX_CALLS).map(({ server, tool, args = "", result, ok }) => {
    const ending = ok ? `→ ${oneLine(result ?? "nothing", MAX_CALL_CHARACTERS)}` : "failed";
    return `${server}.${tool}(${oneLine(args, MAX_CALL_CHARACTERS)}) ${ending}`;
  });
  return [...lines, ...(left > 0 ? [`and ${left} more`] : [])].join("\n");
}

const MAX_SERVER_CHARACTERS = 200;

export function toolLine(tool: ToolDefinition): string {
  return Object.values(signaturesOf([tool], { reader: "prompt" }).data.tools).join("\n");
}

/** Orders tools in the same way for every task, so that a provider's prompt cache stays valid. */
function inOrder(tools: readonly ToolDefinition[]): ToolDefinition[] {
  const keyOf = ({ module, name }: ToolDefinition): string => `${module}\n${name}`;
  return tools.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

function nameList(tools: readonly ToolDefinition[]): string {
  const byServer = Map.groupBy(inOrder(tools), ({ server }) => server);
  const lines = [...byServer].map(([server, group]) => {
    const names = group.map(({ name }) => name).join(" ");
    return `${oneLine(server, MAX_SERVER_CHARACTERS)}: ${names}`;
  });
  return lines.join("\n");
}

const MAX_CONTEXT_CHARACTERS = 8_000;
const MAX_FACTS_CHARACTERS = 6_000;
const MAX_ATTEMPTS = 2;

/** The word that begins an answer of a single call. */
export const CALL = "CALL";

/** The word that begins an answer saying that the tools can't do the task. */
export const CANNOT = "CANNOT:";

export function toldTools({ tools, otherTools = [], namedTools = [] }: GenerateRequest): ToolDefinition[] {
  return [...new Set([...tools, ...otherTools, ...namedTools])];
}

export function createPrompt(request: GenerateRequest): Message[] {
  const { task, context, facts, feedback = [], namedTools = [] } = request;
  const described = toldTools({ ...request, namedTools: [] });
  const parts = [
    described.length === 0
      ? readPrompt("no-tools")
      : `Tools:\n${fence(signaturesOf(inOrder(described), { reader: "prompt" }).text)}`,
  ];
  if (namedTools.length > 0)
    parts.push(`${readPrompt("named-tools", { cannot: CANNOT })}\n${fence(nameList(namedTools))}`);
  if (facts !== undefined) parts.push(`The data:\n${fence(facts.slice(0, MAX_FACTS_CHARACTERS))}`);
  if (context !== undefined) parts.push(`Known:\n${fence(context.slice(0, MAX_CONTEXT_CHARACTERS))}`);
  parts.push(`Task:\n${task}`);
  return [
    { role: "system", content: instructions(request, described.length > 0) },
    { role: "user", content: parts.join("\n\n") },
    ...lastAttempts(feedback).flatMap((attempt): Message[] => [
      { role: "assistant", content: `\`\`\`ts\n${attempt.code.trim()}\n\`\`\`` },
      { role: "user", content: repairMessage(attempt) },
    ]),
  ];
}

function instructions({ mode = "auto" }: GenerateRequest, hasTools: boolean): string {
  const words = { call: CALL, cannot: CANNOT, data: readPrompt("data") };
  if (mode === "direct") return readPrompt("call", words);
  const call = mode === "auto" && hasTools ? `${readPrompt("call-option", words)}\n` : "";
  return readPrompt("program", { ...words, call });
}

/** The last attempts. The first of them includes the calls of those left out. */
function lastAttempts(feedback: readonly GenerateFeedback[]): GenerateFeedback[] {
  const earlierCalls = feedback.slice(0, -MAX_ATTEMPTS).flatMap(({ calls = [] }) => calls);
  return feedback
    .slice(-MAX_ATTEMPTS)
    .map((one, index) => (index === 0 ? { ...one, calls: [...earlierCalls, ...(one.calls ?? [])] } : one));
}
