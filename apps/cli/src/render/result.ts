import { redactionTokensIn, type JsonValue, type TaskResult, type UnfilledStep } from "@cem/core";
import { renderCode, renderCodeAround, renderValue, withReadableNumbers } from "./value.ts";
import { renderPairs, renderRow } from "./rows.ts";
import type { SharedOptions } from "../command/options.ts";
import { counted, duration, grouped, INDENT, oneLine, safeData, safeJson, wrapIndented } from "./text.ts";
import type { Style } from "./text.ts";

/** Renders the code, the tokens saved, and the value last. */
export function renderResult(result: TaskResult, style: Style, { verbose }: Pick<SharedOptions, "verbose">) {
  const safe = safeData(result);
  const blocks: string[][] = [];
  if (safe.code !== "" && safe.origin !== "given") blocks.push(renderCode(safe.code, style, verbose));
  const facts = renderFacts(safe, style, verbose);
  if (facts.length > 0) blocks.push(facts);
  if (safe.status === "success") {
    if (safe.value !== null)
      blocks.push(indented(renderValue(safe.value, { ...style, width: style.width - 2 })));
    else if (safe.output === "") blocks.push([style.colors.dim("  Nothing was returned or printed.")]);
  }
  return blocks.flatMap((block) => ["", ...block]);
}

function renderFacts(result: TaskResult, style: Style, verbose: boolean): string[] {
  const { direct, used, saved, spent = 0 } = result.contextTokens;
  const rows: string[] = [];
  if (result.outputDroppedBytes > 0) {
    const dropped = `${grouped(result.outputDroppedBytes)} bytes of output were over the limit and are lost`;
    rows.push(...renderRow("cut", style.colors.yellow(dropped), style));
  }
  if (result.status === "success" && direct > 0) {
    const share = Math.floor((saved / direct) * 100);
    const kept = saved > 0 ? ` (${share} % kept out)` : "";
    rows.push(
      ...renderRow("context", `${counted(used, "token")} instead of ${grouped(direct)}${kept}`, style),
    );
  }
  if (result.usage !== undefined) rows.push(...renderRow("model", usageText(result), style));
  // Reported if code took more tokens than calling the tools directly.
  if (result.status === "success" && spent > 0 && spent + used > direct) {
    const text = `${counted(direct, "token")} by direct calls, ${grouped(spent + used)} with code: direct calls are cheaper here`;
    rows.push(...renderRow("note", text, style));
  }
  const shown = redactionTokensIn(`${JSON.stringify(result.value)}${result.output}`);
  const tokens = new Set(shown.map(({ id }) => id)).size;
  if (tokens > 0) {
    const text = `${counted(tokens, "value")} of personal data or secrets shown as tokens; guardrails.pii_detection: false shows them`;
    rows.push(...renderRow("kept", text, style));
  }
  for (const warning of result.warnings ?? [])
    rows.push(...renderRow("warning", warning, style, { paint: style.colors.yellow }));
  if (verbose && result.timings.total !== undefined)
    rows.push(...renderRow("total", duration(result.timings.total), style));
  return rows;
}

function usageText({ attempts = 1, usage }: TaskResult): string {
  if (usage === undefined) return "";
  const { cost, inputTokens, model, outputTokens } = usage;
  const tries = attempts > 1 ? `, ${attempts} attempts` : "";
  const dollars = cost === undefined ? "" : `, $${cost.toFixed(cost < 0.01 ? 5 : 2)}`;
  return `${model}, ${grouped(inputTokens)} tokens read, ${grouped(outputTokens)} written${dollars}${tries}`;
}

/** Renders why there is no value: what happened, where, and advice. */
export function renderFailure(result: TaskResult, style: Style, { verbose }: Pick<SharedOptions, "verbose">) {
  const { error, code, notes = [], status } = safeData(result);
  if (error === null) return [];
  const { steps, line, stack } = error.details;
  const { hint } = error;
  if (status === "refused" && Array.isArray(steps))
    return ["", ...renderRefusal(error.details as unknown as Refusal, hint, style)];
  const lines = ["", ...renderRow(status, error.message, style, { paint: style.colors.red })];
  if (hint !== undefined) lines.push(...renderRow("", hint, style));
  for (const note of notes) lines.push(...renderRow("note", note, style));
  if (typeof line === "number" && code !== "") lines.push("", ...renderCodeAround(code, line, style));
  if (verbose && typeof stack === "string")
    lines.push("", ...stack.split("\n").map((frame) => `  ${frame.trim()}`));
  return lines;
}

/**
 * The value alone: text unchanged, anything else as JSON, with exact numbers for a program and readable ones on a terminal.
 * If nothing was returned, the printed output.
 */
export function renderBrief({ value, output, status }: TaskResult, forTerminal: boolean): string {
  if (status !== "success") return "";
  const shown = forTerminal ? withReadableNumbers(value) : value;
  const text = shown === null ? output.replace(/\n$/u, "") : plainValue(shown);
  return forTerminal ? safeData(text) : text;
}

function plainValue(value: JsonValue): string {
  return typeof value === "string" ? value : safeJson(value, 2);
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`.trimEnd());
}

const MAX_NEAREST = 3;
/** The step asks what there is. */
const LOOKING_WAYS: readonly [string, string][] = [
  ["See what there is:", "cem tools"],
  ["Look for some:", 'cem search "<words>"'],
];
const FIRST_WAYS: readonly [string, string][] = [
  ["Begin with examples:", "cem init"],
  ["Add a server:", "cem add <name> -- npx -y <server>"],
];
/** Why a task was refused: the details of its error. */
interface Refusal {
  steps: readonly UnfilledStep[];
  nearest?: readonly { tool: string; score: number }[];
  /** How many tools there are. */
  tools?: number;
}

/** @param hint - The fix that makes a matching tool callable again. */
function renderRefusal({ steps, nearest = [], tools }: Refusal, hint: string | undefined, style: Style) {
  const { colors, width } = style;
  const indented = (text: string): string[] => wrapIndented(text, INDENT, width);
  const reasons = steps.flatMap((step) => step.hint.split("\n")).map((reason) => oneLine(reason));
  const lines = reasons.filter((reason) => reason !== "").flatMap(indented);
  const colored = lines.map((line) => colors.yellow(line));
  const near = nearest
    .slice(0, MAX_NEAREST)
    .map(({ tool, score }) => `${oneLine(tool)} (${score.toFixed(2)})`);
  const isToolMissing = steps.some(({ reason }) => reason === "no-tool");
  const nearestLine = isToolMissing && near.length > 0 ? indented(`Nearest: ${near.join(", ")}.`) : [];
  const told = [...colored, ...nearestLine, ...indented("Nothing was run.")];
  if (steps.some(({ unavailable }) => unavailable !== undefined) && hint !== undefined)
    return [...told, "", ...indented(hint)];
  const isLooking = steps.length > 0 && steps.every(({ argument }) => argument === "tools");
  if (isToolMissing && (tools === 0 || isLooking))
    return [...told, "", ...renderPairs(tools === 0 ? FIRST_WAYS : LOOKING_WAYS, INDENT, style)];
  const adding = isToolMissing ? " cem tools lists what there is, cem add another server." : "";
  return [...colored, ...nearestLine, ...indented(`Nothing was run. ${waysOn(steps)}${adding}`)];
}

/** Suggests two ways that don't depend on the task's wording, including the beginning of a custom program. */
function waysOn(steps: readonly UnfilledStep[]): string {
  const [, name] = /^.+\.([\w$]+)$/u.exec(steps.map(({ tool = "" }) => tool).join("")) ?? [];
  const begun = name === undefined ? "" : `, such as return await ${name}({ … })`;
  return `cem exec <file> runs code of your own${begun}; with llm.enabled in config.yaml a model writes it.`;
}
