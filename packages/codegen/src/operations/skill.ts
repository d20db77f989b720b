import { identifierKey } from "@cem/text";
import type { StepContext } from "./operation.ts";

/** `Import the double_number skill`: names what the next steps use. */
export function planMention({ step, plan }: StepContext): boolean {
  const match =
    /^(?:import|load|use|take|pick|get)\s+(?:the\s+)?["'`]?([\p{L}\p{N}_ -]+?)["'`]?\s+(skill|tool|function|module)$/iu.exec(
      step.text,
    );
  if (match?.[1] === undefined) return false;
  const wanted = identifierKey(match[1]);
  const tool = plan.tools.find((one) =>
    [one.name, one.server, `${one.server}.${one.name}`].some((known) => identifierKey(known) === wanted),
  );
  if (tool === undefined) return false;
  plan.preferred = tool;
  plan.mentioned = step.text;
  return true;
}
