import type { VaultEntry } from "./vault.ts";

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
export interface Flow {
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
export function decideFlow(rules: readonly FlowRule[], { entry, from, to }: Flow): FlowAction {
  if (rules.length === 0) return "allow";
  for (const rule of rules) {
    if (!matches(rule.to, to) || !(matches(rule.from, from) || rule.from === entry.type)) continue;
    return rule.action;
  }
  // What a user wrote, and what goes back to where it came from, is nothing new to anybody.
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
