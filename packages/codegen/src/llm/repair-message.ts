import type { ErrorInfo, Finding, GenerateFeedback } from "@cem/core";
import { readPrompt } from "../prompt-files.ts";
import { fence, oneLine } from "./fence.ts";

type EarlierCall = NonNullable<GenerateFeedback["calls"]>[number];

/** Of what an earlier attempt printed. */
const MAX_OUTPUT_CHARACTERS = 1_000;
const MAX_CALL_CHARACTERS = 400;
const MAX_CALLS = 30;
const MAX_LINE_CHARACTERS = 160;
/** A model mends what it is told of first. */
const MAX_FINDINGS = 30;

/** Tells a model what became of its code, and what to do about it. */
export function repairMessage(feedback: GenerateFeedback): string {
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

/** Each finding with the line of the code that it is about. */
function findingLines(findings: readonly Finding[], code: string): string {
  const lines = code.split("\n");
  return findings
    .slice(0, MAX_FINDINGS)
    .map(
      ({ line, message }) =>
        `${line === undefined ? "" : `Line ${line}: `}${message}${sourceAt(line, lines)}`,
    )
    .join("\n");
}

function errorLines({ details, message }: ErrorInfo, code: string): string {
  const { line } = details;
  return `${message}${sourceAt(typeof line === "number" ? line : undefined, code.split("\n"))}`;
}

/** A line of the code, on a line of its own. */
function sourceAt(line: number | undefined, lines: readonly string[]): string {
  const source = line === undefined ? "" : oneLine(lines[line - 1] ?? "", MAX_LINE_CHARACTERS);
  return source === "" ? "" : `\n  ${source}`;
}

function callLines(calls: readonly EarlierCall[]): string {
  const left = calls.length - MAX_CALLS;
  const lines = calls.slice(0, MAX_CALLS).map(callText);
  return [...lines, ...(left > 0 ? [`and ${left} more`] : [])].join("\n");
}

function callText({ server, tool, args = "", result, ok }: EarlierCall): string {
  const ending = ok ? `→ ${oneLine(result ?? "nothing", MAX_CALL_CHARACTERS)}` : "failed";
  return `${server}.${tool}(${oneLine(args, MAX_CALL_CHARACTERS)}) ${ending}`;
}
