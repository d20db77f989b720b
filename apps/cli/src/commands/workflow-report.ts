import type { RunDetails, RunSummary, WorkflowEvent, WorkflowResult } from "code-execution-mcp";
import type { ConfiguredWorkflow, DrawnStep } from "code-execution-mcp/admin";
import type { Output } from "../io/terminal.ts";
import { renderPairs, renderRow } from "../render/rows.ts";
import { counted, duration, INDENT, joined, oneLine, safeData, type Style } from "../render/text.ts";
import { renderValue } from "../render/value.ts";

/** Shows the steps of a run as they end. */
export function showSteps(output: Output, verbose: boolean): (event: WorkflowEvent) => void {
  const { style } = output;
  const { colors } = style;
  const row = (label: string, text: string, ms?: number, paint?: (label: string) => string): void => {
    const right = ms === undefined ? undefined : duration(ms);
    output.write(`${renderRow(label, oneLine(text), style, { right, paint }).join("\n")}\n`);
  };
  return (given) => {
    const event = safeData(given);
    switch (event.type) {
      case "run-started":
        return row(event.isResumed ? "resume" : "run", event.run);
      case "step-started":
        return output.writeTransient(
          `${INDENT}${"step".padEnd(9)}  ${oneLine(event.step)} ${colors.dim("…")}`,
        );
      case "step-completed":
        if (event.error !== undefined)
          return row("continued", `${event.step}: ${event.error.message}`, event.ms, colors.yellow);
        if (event.isKnown) return verbose ? row("known", event.step) : undefined;
        return row("success", event.step, event.ms, colors.green);
      case "step-skipped":
        return row(
          "skipped",
          event.error === undefined ? event.step : `${event.step}: ${event.error.message}`,
        );
      case "step-failed":
        return row("error", event.step, event.ms, colors.red);
      case "step-retrying":
        return row(
          "retrying",
          `${event.step} in ${duration(event.delayMs)}: ${event.error.message}`,
          undefined,
          colors.yellow,
        );
      case "step-logged":
        return row("", `${event.step}: ${event.message}`);
      case "step-progressed":
        return verbose
          ? row("", `${event.step}: ${event.progress.message ?? event.progress.progress}`)
          : undefined;
      case "run-ended":
        return;
    }
  };
}

export function renderOutputs(outputs: WorkflowResult["outputs"], style: Style): string[] {
  if (Object.keys(outputs).length === 0) return [];
  return [
    "",
    ...renderValue(outputs, { ...style, width: style.width - 2 }).map((line) => `${INDENT}${line}`.trimEnd()),
  ];
}

export function renderRunFailure({ error, run, status }: WorkflowResult, style: Style): string[] {
  if (error === null) return [];
  return [
    "",
    ...renderRow(status, error.message, style, { paint: style.colors.red }),
    ...(error.hint === undefined ? [] : renderRow("", error.hint, style)),
    // The hint may say how.
    ...(error.hint?.includes(`resume ${run}`) === true
      ? []
      : renderRow("go on", `cem workflow resume ${run}`, style)),
  ];
}

export function renderWorkflows(
  workflows: readonly ConfiguredWorkflow[],
  runs: readonly RunSummary[],
  style: Style,
): string[] {
  if (workflows.length + runs.length === 0)
    return ["", "  There are no workflows and no runs here. Run a file: cem workflow run <file.yaml>"];
  const defined = workflows.map(({ name, description, steps }): [string, string] => [
    oneLine(name),
    oneLine(joined(counted(steps, "step"), description)),
  ]);
  const kept = runs.map(({ run, status, startedAt, ms }): [string, string] => [
    run,
    `${status}, ${startedAt.slice(0, 19).replace("T", " ")}, ${duration(ms)}`,
  ]);
  return [
    ...(defined.length === 0 ? [] : ["", ...renderPairs(defined, INDENT, style)]),
    ...(kept.length === 0 ? [] : ["", ...renderPairs(kept, INDENT, style)]),
  ];
}

export function renderRunDetails(details: RunDetails, style: Style): string[] {
  const { run, workflow, version, status, error, uncertain, steps, outputs } = details;
  const pairs = steps.map(({ step, status: state, attempts, error: failure }): [string, string] => [
    oneLine(step),
    oneLine(joined(state, attempts > 1 && `${attempts} attempts`, failure?.message)),
  ]);
  return [
    "",
    `${INDENT}${style.colors.bold(run)}`,
    "",
    ...renderRow("workflow", `${oneLine(workflow)} ${oneLine(version)}`, style),
    ...renderRow("status", `${status}, ${duration(details.ms)} at work`, style),
    ...(error === null ? [] : renderRow("error", error.message, style, { paint: style.colors.red })),
    ...(uncertain.length === 0
      ? []
      : renderRow("uncertain", `may have been executed: ${uncertain.join(", ")}`, style)),
    ...(pairs.length === 0 ? [] : ["", ...renderPairs(pairs, INDENT, style)]),
    ...renderOutputs(outputs, style),
  ];
}

/** Renders a workflow as a drawing: steps with the same number can run at once. */
export function renderDrawing(steps: readonly DrawnStep[], style: Style): string[] {
  const { colors } = style;
  const lines = steps.map(({ depth, group, text, detail }) => {
    const indent = `${INDENT}${"│  ".repeat(depth)}`;
    const label = group === 0 ? colors.dim(oneLine(text)) : `${group}  ${colors.bold(oneLine(text))}`;
    return `${indent}${label}${detail === "" ? "" : `  ${colors.dim(oneLine(detail))}`}`;
  });
  return ["", ...lines];
}
