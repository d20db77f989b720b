import { CemError } from "@cem/core";
import type { Redactor } from "@cem/core";
import type { VaultEntry } from "./vault.ts";

/** The call that values are put into. */
export type RedactionTarget = Parameters<Redactor["detokenize"]>[1];

/** Whether values may go from one place to another. */
export interface FlowRule {
  /** A server, a tool (`server.tool`), or a type of value (`EMAIL`). Default: anywhere. */
  from?: string | undefined;
  /** A server or a tool (`server.tool`). Default: anywhere. */
  to?: string | undefined;
  action: FlowAction;
}

export type FlowAction = "allow" | "deny" | "ask";

/** The facts of a value that rules look at. */
export interface FlowingValue extends Pick<VaultEntry, "type"> {
  origins: readonly string[];
}

/** A way that a value would go. */
interface Flow {
  entry: FlowingValue;
  /** `server.tool`, or empty for what a user or a program wrote. */
  from: string;
  /** `server.tool`. */
  to: string;
}

/**
 * Decides whether a value may go to a tool. The first rule that fits decides. Without rules every value may go
 * everywhere; with some, what none of them names stays with the server that it came from.
 */
function decideFlow(rules: readonly FlowRule[], { entry, from, to }: Flow): FlowAction {
  if (rules.length === 0) return "allow";
  for (const rule of rules) {
    if (!matches(rule.to, to) || !(matches(rule.from, from) || rule.from === entry.type)) continue;
    return rule.action;
  }
  // Values that a user wrote, or that return to their origin, disclose nothing new.
  return from === "" || serverOf(from) === serverOf(to) ? "allow" : "deny";
}

function matches(pattern: string | undefined, place: string): boolean {
  return pattern === undefined || pattern === "*" || pattern === place || pattern === serverOf(place);
}

/** The server of `server.tool`. Names of servers may have dots, those of tools in code have none. */
export function serverOf(place: string): string {
  const dot = place.lastIndexOf(".");
  return dot === -1 ? place : place.slice(0, dot);
}

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
