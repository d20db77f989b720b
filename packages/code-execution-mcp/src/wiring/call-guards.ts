import type { Approve, AuditLog, Elicit, ToolCall, InvokeContext } from "@cem/core";
import type { ApprovalMemory, CallGuard, CallRule, ContentFilter, PlannedWrite } from "@cem/guardrails/calls";
import type { LoadedFor } from "./customer.ts";

/** The options of an agent that say which calls of tools are made. */
export interface CallGuardOptions {
  /** Business rules for calls of host tools: plain functions that refuse a call or have a person decide it. */
  rules?: readonly CallRule[] | undefined;
  /** Filters the texts of arguments, in place of the default list. */
  contentFilter?: ContentFilter | undefined;
  /** Asks a person whether a call may be made that needs a yes. Default: `onElicit`; without it the answer is no. */
  onApprove?: Approve | undefined;
  /** Makes a dry run: calls that would change something are passed here and not made. */
  onPlannedWrite?: ((write: PlannedWrite) => void) | undefined;
  /** An approved plan: of calls that change something, these are made, each once, and no others. */
  approvedWrites?: readonly PlannedWrite[] | undefined;
}

interface CallGuardSettings extends CallGuardOptions {
  onElicit?: Elicit | undefined;
  audit?: AuditLog | undefined;
  /** Values that must not leave in arguments. */
  secrets?: readonly string[] | undefined;
}

/** What stands between the check of a call's arguments and its tool. */
export interface CallGuards {
  /** Decides whether a tool may be called at all: `true`, or why not. */
  isAllowed: (
    call: Pick<ToolCall, "server" | "tool">,
    context?: Pick<InvokeContext, "allowedTools">,
  ) => true | string;
  /** In their order: contents, rules, limits, approval. */
  guards: CallGuard[];
}

/** Creates the guards of calls that the configuration and the options ask for. What is off is not there. */
export async function createCallGuards(loaded: LoadedFor, settings: CallGuardSettings): Promise<CallGuards> {
  const {
    config: { guardrails },
    customer,
  } = loaded;
  const calls = await import("@cem/guardrails/calls");
  const { enabled, securityChecks, contentFiltering, rateLimiting, rateLimits, budgets, toolCosts } =
    guardrails;
  const { allowedTools, blockedTools, approvals, readTools, egress } = guardrails;
  const {
    rules = [],
    contentFilter,
    onApprove,
    onElicit,
    onPlannedWrite,
    approvedWrites,
    audit,
    secrets,
  } = settings;
  const guards: CallGuard[] = [];
  if (enabled && (securityChecks || contentFiltering)) {
    guards.push(
      calls.checkInputs({
        controlCharacters: securityChecks,
        secrets: securityChecks,
        contentFilter: contentFiltering ? contentFilter : false,
      }),
    );
  }
  if (enabled && (securityChecks || egress.length > 0)) {
    guards.push(calls.checkEgress({ rules: egress, secrets: securityChecks ? secrets : [] }));
  }
  if (rules.length > 0) guards.push(calls.applyRules(rules));
  if (enabled && rateLimiting && rateLimits.length > 0) {
    // A customer has an agent to itself: its sessions share its calls.
    const limits =
      customer === undefined ? rateLimits : rateLimits.map((limit) => ({ ...limit, by: "all" as const }));
    guards.push(calls.limitCalls(limits));
  }
  if (enabled && budgets.length > 0) guards.push(calls.spendBudgets({ budgets, costs: toolCosts }));
  if (onPlannedWrite !== undefined) guards.push(calls.planWrites(onPlannedWrite, readTools));
  else if (approvedWrites !== undefined) guards.push(calls.followPlan(approvedWrites, readTools));
  else if (rules.length > 0 || (enabled && approvals.length > 0)) {
    const tools = enabled ? approvals : [];
    const memory = await approvalMemory(loaded);
    guards.push(calls.requireApproval({ tools, approve: onApprove, elicit: onElicit, audit, memory }));
  }
  // Which tools may be called is no matter of the review that can be switched off.
  return { isAllowed: allow(calls.matchTools, allowedTools, blockedTools), guards };
}

/** What was said yes to for a session, where machines share it. */
async function approvalMemory({ customer, store }: LoadedFor): Promise<ApprovalMemory | undefined> {
  if (store === undefined) return undefined;
  const [{ createSharedApprovals }, { keyOfCustomer }] = await Promise.all([
    import("@cem/guardrails/calls"),
    import("@cem/workspace"),
  ]);
  const scope = customer === undefined ? ["approvals"] : keyOfCustomer(customer.id, "approvals");
  return createSharedApprovals({ store: await store.get(), scope });
}

type MatchTools = (patterns: readonly string[]) => (server: string, tool: string) => boolean;

function allow(
  matchTools: MatchTools,
  allowedTools: readonly string[],
  blockedTools: readonly string[],
): CallGuards["isAllowed"] {
  const isBlocked = matchTools(blockedTools);
  const isAllowed = matchTools(allowedTools);
  /** A run brings the same list with each of its calls. */
  const ofRuns = new WeakMap<readonly string[], ReturnType<MatchTools>>();
  return ({ server, tool }, { allowedTools: ofRun } = {}) => {
    if (isBlocked(server, tool)) return "it is blocked here";
    if (!isAllowed(server, tool)) return "it is not among the tools that are allowed here";
    if (ofRun === undefined) return true;
    const matches = ofRuns.get(ofRun) ?? matchTools(ofRun);
    ofRuns.set(ofRun, matches);
    return matches(server, tool) || "it is not among the tools of this run";
  };
}
