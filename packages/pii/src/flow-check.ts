import { CemError } from "@cem/core";
import type { Redactor } from "@cem/core";
import { decideFlow } from "./flow-rules.ts";
import type { Flow, FlowingValue, FlowRule } from "./flow-rules.ts";

type RedactionTarget = Parameters<Redactor["detokenize"]>[1];

/** Checks by rules whether values may go where a call would take them. For one session. */
export class FlowCheck {
  readonly #rules: readonly FlowRule[];
  /** Answers of the user, by way. */
  readonly #answers = new Map<string, Promise<boolean>>();

  constructor(rules: readonly FlowRule[]) {
    this.#rules = rules;
  }

  /** @throws CemError `FLOW_DENIED` for the first value that may not go there. */
  async assertAllowed(entries: Iterable<FlowingValue>, target: RedactionTarget): Promise<void> {
    const to = `${target.server}.${target.tool}`;
    for (const entry of entries) {
      for (const from of entry.origins) {
        if (from === "") continue;
        const flow = { entry, from, to };
        const action = decideFlow(this.#rules, flow);
        if (action === "allow" || (action === "ask" && (await this.#ask(flow, target)))) continue;
        throw denied(flow, action === "ask" ? "nobody said yes" : "no rule allows it");
      }
    }
  }

  /** Asks once for each way and type. */
  #ask(flow: Flow, target: RedactionTarget): Promise<boolean> {
    const way = JSON.stringify([flow.entry.type, flow.from, flow.to]);
    let answer = this.#answers.get(way);
    if (answer === undefined) this.#answers.set(way, (answer = ask(flow, target)));
    return answer;
  }
}

function denied({ entry: { type }, from, to }: Flow, why: string): CemError {
  const message = `A value of type ${type} that came from ${from} may not go to ${to}: ${why}.`;
  return new CemError("FLOW_DENIED", message, { details: { type, from, to } });
}

async function ask(
  { entry: { type }, from, to }: Flow,
  { elicit, server, signal }: RedactionTarget,
): Promise<boolean> {
  if (elicit === undefined) return false;
  const answer = await elicit({
    server,
    mode: "form",
    message: `May a value of type ${type} that came from ${from} go to ${to}?`,
    requestedSchema: {
      type: "object",
      properties: { allow: { type: "boolean", title: "Allow it for this session" } },
      required: ["allow"],
    },
    signal: signal ?? new AbortController().signal,
  });
  return answer.action === "accept" && answer.content?.["allow"] === true;
}
