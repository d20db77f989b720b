import { statusOfCall, type AgentEvent, type Finding, type Isolation, type ToolCallRecord } from "@cem/core";
import type { Output } from "../io/terminal.ts";
import { ROW_INDENT, renderPairs, renderRow } from "../render/rows.ts";
import { oneLine, safeData, counted, duration } from "../render/text.ts";

type SelectedEvent = Extract<AgentEvent, { type: "selected" }>;

/** Shows the progress of a task: a line as each stage ends, and the code's output as it is printed. */
export function createRunProgress(
  output: Output,
  { verbose }: { verbose: boolean },
): (event: AgentEvent) => void {
  const { style } = output;
  const { colors } = style;
  let began = false;
  /** Position in the code's output: not begun, at the start of a line, or within one. */
  let printing: "no" | "line-start" | "in-line" = "no";

  const write = (lines: readonly string[]): void => {
    output.write(`${printing === "in-line" ? "\n" : ""}${lines.join("\n")}\n`);
    printing = "no";
  };
  const row = (label: string, text: string, ms: number): void =>
    write(renderRow(label, text, style, { right: duration(ms) }));

  const printOutput = (text: string): void => {
    if (text === "") return;
    const prefix = printing === "no" ? `  output     ` : printing === "line-start" ? ROW_INDENT : "";
    const ends = text.endsWith("\n");
    const body = (ends ? text.slice(0, -1) : text).replaceAll("\n", `\n${ROW_INDENT}`);
    output.write(`${prefix}${body}${ends ? "\n" : ""}`);
    printing = ends ? "line-start" : "in-line";
  };

  const showSelected = ({ tools, available, ms, notes = [] }: SelectedEvent): void => {
    const found = `${tools.length === 0 ? "none" : tools.length} of ${counted(available, "tool")}`;
    row("select", [found, ...notes.map(oneLine)].join(", "), ms);
    const pairs = tools.map(({ server, tool, score, reason }): [string, string] => [
      oneLine(`${server}.${tool}`),
      oneLine(verbose ? `${score.toFixed(2)}  ${reason}` : reason),
    ]);
    if (pairs.length > 0) write(renderPairs(pairs, ROW_INDENT, style));
  };

  const showReviewed = (findings: readonly Finding[], allowed: boolean, ms: number): void => {
    const text = findings.length === 0 ? "no findings" : counted(findings.length, "finding");
    row("review", allowed ? text : colors.red(`${text}, refused`), ms);
    const pairs = findings.map(({ line, message }): [string, string] => [
      line === undefined ? "" : `line ${line}`,
      oneLine(message),
    ]);
    if (allowed && pairs.length > 0) write(renderPairs(pairs, ROW_INDENT, style));
  };

  const showCall = (call: ToolCallRecord): void => {
    const status = statusOfCall(call);
    const shown = status === "success" ? status : colors.red(status);
    if (verbose) row("call", `${oneLine(`${call.server}.${call.tool}`)}  ${shown}`, call.ms);
  };

  const show = (event: AgentEvent): void => {
    switch (event.type) {
      case "stage-started":
        output.writeTransient(`  ${event.stage.padEnd(9)}  ${colors.dim("…")}`);
        return;
      case "discovered": {
        const { servers, tools, skills, problems, ms } = event;
        const broken = problems === 0 ? "" : `, ${counted(problems, "problem")} (cem tools shows what)`;
        const found = [counted(servers, "server"), counted(tools, "tool")];
        if (skills > 0) found.push(counted(skills, "skill"));
        return row("discover", `${found.join(", ")}${colors.yellow(broken)}`, ms);
      }
      case "selected":
        return showSelected(event);
      case "generating":
        output.writeTransient(
          `  generate   ${colors.dim(`${oneLine(event.model)}, ${counted(event.characters, "character")} …`)}`,
        );
        return;
      case "generated": {
        const lines = counted(event.code.trimEnd().split("\n").length, "line");
        row("generate", `by ${event.origin === "llm" ? "the llm" : "rules"}, ${lines}`, event.ms);
        for (const note of event.notes ?? [])
          write(renderRow("", oneLine(note), style, { paint: colors.yellow }));
        return;
      }
      case "repairing":
        write(
          renderRow("repair", `attempt ${event.attempt}: ${oneLine(event.reason)}`, style, {
            paint: colors.yellow,
          }),
        );
        return;
      case "generation-refused":
        return row("generate", "no code: something is missing", event.ms);
      case "reviewed":
        return showReviewed(event.findings, event.allowed, event.ms);
      case "output":
        return printOutput(event.chunk.text);
      case "tool-progressed":
        return;
      case "tool-called":
        return showCall(event.call);
      case "ran":
        return row(
          "run",
          `${counted(event.toolCalls, "tool call")}, ${isolationText(event.isolation)}`,
          event.ms,
        );
      case "finished":
        return;
    }
  };
  return (event) => {
    if (!began) output.write("\n");
    began = true;
    show(safeData(event));
  };
}

function isolationText({ level, mechanisms }: Isolation): string {
  return mechanisms.length === 0 ? level : `${level} (${mechanisms.join(", ")})`;
}
