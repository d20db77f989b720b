import type { JsonValue, TaskResult } from "@cem/core";
import { renderCode, renderCodeAround } from "./render-code.ts";
import { renderRow } from "./render-rows.ts";
import { renderRefusal } from "./render-refusal.ts";
import { renderValue } from "./render-value.ts";
import { safeData, safeJson } from "./safe-text.ts";
import type { Style } from "./text-layout.ts";
import { counted, duration, grouped } from "./text-layout.ts";

export interface ResultOptions {
  verbose: boolean;
}

/** The code, what was kept out of context, and the value, which comes last. */
export function renderResult(result: TaskResult, style: Style, { verbose }: ResultOptions): string[] {
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
  const { direct, used, saved } = result.contextTokens;
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
  if (verbose && result.timings.total !== undefined) {
    rows.push(...renderRow("total", duration(result.timings.total), style));
  }
  return rows;
}

/** Why there is no value: what happened, where, and the way out. */
export function renderFailure(result: TaskResult, style: Style, { verbose }: ResultOptions): string[] {
  const { error, code, status } = safeData(result);
  if (error === null) return [];
  const { steps, nearest, line, stack } = error.details;
  if (Array.isArray(steps)) return ["", ...renderRefusal(steps, nearest, style)];
  const label = status === "error" ? "failed" : status;
  const lines = ["", ...renderRow(label, error.message, style, { paint: style.colors.red })];
  if (typeof line === "number" && code !== "") lines.push("", ...renderCodeAround(code, line, style));
  if (verbose && typeof stack === "string")
    lines.push("", ...stack.split("\n").map((frame) => `  ${frame.trim()}`));
  return lines;
}

/** The value alone: text as it is, anything else as JSON; what was printed, where nothing was returned. */
export function renderBrief({ value, output, status }: TaskResult, forTerminal: boolean): string {
  if (status !== "success") return "";
  const text = value === null ? output.replace(/\n$/u, "") : plainValue(value);
  return forTerminal ? safeData(text) : text;
}

function plainValue(value: JsonValue): string {
  return typeof value === "string" ? value : safeJson(value, 2);
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`.trimEnd());
}
