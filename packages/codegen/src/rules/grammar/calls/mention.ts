import type { ToolDefinition } from "@cem/core";
import { identifierKey } from "@cem/text";
import { Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import type { Plan } from "../../planning/plan.ts";
import { RANK } from "../../planning/reading.ts";
import type { Production, Step } from "../../planning/step.ts";

const MENTION = new Pattern(
  "(import|load|use|take|pick|get) {named} (skill|tool|function|module | from (skill|skills|tool|tools|server|servers))",
);
const LEAD = new Pattern(
  "(use|using|with|ask | call) {named} (server|tool|tools|api|skill)? (to | and | ,) {order:rest}",
);
const TAIL = new Pattern("{order} (using|via | with) {named} (server|tool|tools|api|skill)?");

/** `Import the double_number skill`: names what the next steps use. */
export const readMention: Production = ({ span, text }, plan) => {
  const named = MENTION.match(span)?.text("named");
  const tool = named === undefined ? undefined : namedTools(named, plan)[0];
  if (tool === undefined) return undefined;
  return {
    kind: "mention",
    rank: RANK.named,
    lower() {
      plan.preferred = tool;
      plan.mentioned = text;
    },
  };
};

/** `use the calculator to multiply 12 by 12`, `add 2 and 3 using calculator.add`: the order, and whose tools it is for. */
export function withoutMention(step: Step, plan: Plan): Step {
  for (const pattern of [LEAD, TAIL]) {
    for (const match of pattern.matches(step.span)) {
      const tools = namedTools(match.text("named"), plan);
      const order: Span = match.span("order").trimmed;
      if (tools.length > 0 && !order.isEmpty) return { ...step, text: order.text, span: order, tools };
    }
  }
  return step;
}

/** The tools that a name means: one by its name, or all of a server. */
function namedTools(named: string, { tools }: Plan): ToolDefinition[] {
  const wanted = identifierKey(named);
  const one = tools.find(({ name, server }) =>
    [name, `${server}.${name}`].some((known) => identifierKey(known) === wanted),
  );
  return one === undefined ? tools.filter(({ server }) => identifierKey(server) === wanted) : [one];
}
