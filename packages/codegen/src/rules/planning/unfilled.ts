import type { GenerationRefused, ToolDefinition } from "@cem/core";

type UnfilledStep = GenerationRefused["steps"][number];

const MAX_QUOTED_CHARACTERS = 120;

/** Thrown by an operation for a step that can't be planned. */
export class Unfilled extends Error {
  readonly step: UnfilledStep;

  constructor(step: UnfilledStep) {
    super(step.hint);
    this.step = step;
  }
}

/** A refusal with the tool that comes nearest. */
export function refuse(step: UnfilledStep, tool?: ToolDefinition): Unfilled {
  return new Unfilled(
    tool === undefined ? step : { ...step, tool: idOf(tool), hint: `${step.hint}\n${nearest(tool)}` },
  );
}

export function idOf({ server, name }: ToolDefinition): string {
  return `${server}.${name}`;
}

/** The tool that comes nearest to a step, with what it takes. */
function nearest({ server, signature }: ToolDefinition): string {
  const call = signature.replace(/\)\s*:[^]*$/u, ")");
  return `The nearest tool is ${server}.${call.length > 200 ? `${call.slice(0, 200)}…` : call}.`;
}

/** The beginning of a text, in quotation marks. */
export function cite(text: string): string {
  const plain = text.replaceAll(/\s+/gu, " ").trim();
  return `"${plain.length > MAX_QUOTED_CHARACTERS ? `${plain.slice(0, MAX_QUOTED_CHARACTERS)}…` : plain}"`;
}
