import { identifierKey } from "@cem/text";
import type { StepContext } from "./operation.ts";

/** `Import the double_number skill`: names what the next steps use. */
export function planMention({ step, plan }: StepContext): boolean {
  const match =
    /^(?:import|load|use|take|pick|get)\s+(?:the\s+)?["'`]?([\p{L}\p{N}_ -]+?)["'`]?\s+(?:skill|tool|function|module|from\s+(?:the\s+|my\s+)?(?:skills?|tools?|servers?))$/iu.exec(
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

/** `use the calculator to multiply 12 by 12`: which server does it is no part of what is done. */
export function withoutServer(text: string, plan: StepContext["plan"]): string {
  const match =
    /^(?:please\s+)?(?:use|using|with|ask)\s+(?:the\s+)?["'`]?([\p{L}\p{N}_-]+)["'`]?(?:\s+(?:server|tools?|api))?(?:\s+(?:to|and)\s+|\s*,\s*)(.+)$/isu.exec(
      text,
    );
  const [, named, rest] = match ?? [];
  if (named === undefined || rest === undefined) return text;
  const isServer = plan.tools.some(
    ({ server, kind }) => kind !== "skill" && identifierKey(server) === identifierKey(named),
  );
  return isServer ? rest : text;
}
