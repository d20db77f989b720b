import { abandonOnAbort, CemError, type JsonValue, type ToolAnnotations } from "@cem/core";
import { notAllowed } from "./check-inputs.ts";
import { annotationsOf, checkingGuard, type CallGuard, type GuardedCall } from "./guarded-call.ts";

/** A call, as passed to a rule. */
export interface RuledCall {
  server: string;
  tool: string;
  /** A whole number of more digits than JavaScript counts exactly is rounded here. */
  args: JsonValue;
  annotations: ToolAnnotations;
  session?: string | undefined;
  run?: string | undefined;
}

type Decision = boolean | string | { ask: string } | undefined | void;

/**
 * A business rule: a plain function. Nothing or `true` allows the call, `false` or a text (the reason) refuses it, and `{
 * ask: "why" }` asks a person to decide, which needs `requireApproval` behind the rules, and `canAsk`.
 */
export type CallRule = (call: RuledCall) => Decision | Promise<Decision>;

/** Calls that a rule wants a person to decide, with the reason. */
const questioned = new WeakMap<object, string>();

export function questionOf(call: GuardedCall): string | undefined {
  return questioned.get(call);
}

/**
 * Applies business rules to each call, in order. A rule that fails refuses the call. It throws `TOOL_NOT_ALLOWED` or
 * `NOT_APPROVED`.
 *
 * @param canAsk - Whether `requireApproval` or `followPlan` stands behind the rules and gets the calls as they leave these.
 */
export function applyRules(rules: readonly CallRule[], { canAsk = false } = {}): CallGuard {
  return checkingGuard(async (call: GuardedCall, { session, run, signal }) => {
    const { server, tool, asNumbers = call.args } = call;
    const ruled: RuledCall = {
      server,
      tool,
      args: structuredClone(asNumbers),
      annotations: annotationsOf(call),
      session,
      run,
    };
    for (const rule of rules) {
      let answer: Decision;
      try {
        answer = await abandonOnAbort(Promise.resolve(rule(ruled)), signal);
      } catch (cause) {
        signal.throwIfAborted();
        const message = `${server}.${tool} may not be called: a rule for calls failed.`;
        throw new CemError("TOOL_NOT_ALLOWED", message, { details: { server, tool }, cause });
      }
      if (answer === undefined || answer === true) continue;
      if (typeof answer === "string") throw notAllowed(call, answer.replace(/[.!]$/, ""));
      const ask = (answer || undefined)?.ask;
      if (typeof ask !== "string") throw notAllowed(call, "a rule forbids it");
      if (!canAsk) {
        const message = `${server}.${tool} was not called: ${ask}, and nobody can be asked without requireApproval behind the rules.`;
        throw new CemError("NOT_APPROVED", message, { details: { server, tool, answer: "unanswered" } });
      }
      questioned.set(call, ask);
    }
  });
}
