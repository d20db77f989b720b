import { calledTool, matchTools } from "@cem/core";
import type { Approve, AuditLog, Elicit, InvokeContext, Redactor, ToolCall, ToolDefinition } from "@cem/core";
import type {
  ApprovalSettings,
  CallGuard,
  CallRule,
  ContentFilter,
  PlannedWrite,
} from "@cem/guardrails/calls";
import type { NamedTool } from "@cem/mcp-client/tools";
import { redactorOf } from "../privacy/redaction.ts";
import type { Project } from "../project.ts";

/** The options of an agent that decide which tool calls are made. */
export interface CallGuardOptions {
  /** Business rules for calls of host tools: plain functions that refuse a call or require a person's approval. */
  rules?: readonly CallRule[] | undefined;
  /** Filters the texts in arguments, in place of the default list. */
  contentFilter?: ContentFilter | undefined;
  /** Asks a person to approve a call that needs approval. Default: `onElicit`; without it such calls are refused. */
  onApprove?: Approve | undefined;
  /** Enables a dry run: calls that would change something are passed to this function instead of being made. */
  onPlannedWrite?: ((write: PlannedWrite) => void) | undefined;
  /** An approved plan: of the calls that change something, only these are made, each once. */
  approvedWrites?: readonly PlannedWrite[] | undefined;
}

interface CallGuardSettings extends CallGuardOptions {
  redactor?: Redactor | undefined;
  onElicit?: Elicit | undefined;
  audit?: AuditLog | undefined;
  /** Values that must not leave in arguments. */
  secrets?: readonly string[] | undefined;
}

/** Checks of a call that run after the validation of its arguments. */
export type CallGuards = Awaited<ReturnType<typeof createCallGuards>>;

/** Whether the settings may make a guard apply to file tools. With the defaults none applies. */
export function concernsFiles(loaded: Project, options: CallGuardSettings): boolean {
  const { enabled, rateLimiting, rateLimits, egress, allowedTools, blockedTools } = loaded.config.guardrails;
  const { rules = [], contentFilter, onPlannedWrite, approvedWrites } = options;
  const { tools: approvals = [], sandboxed } = approvalsOf(loaded);
  const isApproved = approvals.some(
    (pattern) => !pattern.startsWith("!") && (sandboxed || pattern !== "destructive"),
  );
  const isLimited = (rateLimiting && rateLimits.length > 0) || egress.length > 0;
  return (
    isApproved ||
    (enabled && (isLimited || contentFilter !== undefined)) ||
    (onPlannedWrite ?? approvedWrites) !== undefined ||
    rules.length + blockedTools.length > 0 ||
    !allowedTools.includes("*") ||
    hasFlowRules(loaded, options)
  );
}

function hasFlowRules(loaded: Project, options: Pick<CallGuardSettings, "redactor">): boolean {
  return loaded.config.privacy.rules.length > 0 && redactorOf(loaded, options) !== undefined;
}

/**
 * The calls that need approval. Unless configured, `destructive` does not cover file tools, whose effects the sandbox
 * contains. A workflow appends to the setting, so its own `destructive` comes after the default.
 */
function approvalsOf({ config, origins }: Project): Pick<ApprovalSettings, "tools" | "sandboxed"> {
  const { enabled, approvals } = config.guardrails;
  const isDefault = origins["guardrails.approvals"]?.from === "default";
  const sandboxed = !isDefault || approvals.lastIndexOf("destructive") > 0;
  return { tools: enabled ? approvals : [], sandboxed };
}

/** Creates a test whether calls of a tool need a person's approval, regardless of their arguments. */
export async function approvalTest(loaded: Project) {
  const { approvalReason } = await import("@cem/guardrails/calls");
  const reasonFor = approvalReason(approvalsOf(loaded));
  type Tested = NamedTool & Pick<ToolDefinition, "kind" | "originalServer" | "originalName">;
  return ({ annotations, kind, ...tool }: Tested): boolean =>
    reasonFor({ ...calledTool(tool), found: { annotations, sandboxed: kind !== "host" } }) !== undefined;
}

const EVERY_TOOL = ["*"];

export async function createCallGuards(loaded: Project, settings: CallGuardSettings) {
  const { owner, counts } = loaded;
  const calls = await import("@cem/guardrails/calls");
  const { guardrails } = loaded.config;
  const { enabled, securityChecks, contentFiltering, rateLimiting, rateLimits } = guardrails;
  const { allowedTools, blockedTools, approvals, readTools, egress } = guardrails;
  const { rules = [], contentFilter, onPlannedWrite, approvedWrites, secrets } = settings;
  const guards: CallGuard[] = [];
  let needsApproval: (tool: ToolDefinition) => boolean = () => false;
  const concerned: ((tool: NamedTool) => boolean)[] = [];
  const addFor = (patterns: readonly string[], guard: CallGuard): void => {
    guards.push(guard);
    const matches = matchTools(patterns);
    concerned.push((tool) => matches(calledTool(tool)));
  };
  if (enabled && (securityChecks || contentFiltering)) {
    const guard = calls.checkInputs({
      controlCharacters: securityChecks,
      secrets: securityChecks,
      contentFilter: contentFiltering ? contentFilter : false,
    });
    addFor(contentFiltering && contentFilter !== undefined ? EVERY_TOOL : [], guard);
  }
  if (enabled && (securityChecks || egress.length > 0)) {
    const guard = calls.checkEgress({ rules: egress, secrets: securityChecks ? secrets : [] });
    addFor(
      egress.flatMap(({ tools }) => tools),
      guard,
    );
  }
  if (rules.length > 0) addFor(EVERY_TOOL, calls.applyRules(rules, { canAsk: true }));
  if (enabled && rateLimiting && rateLimits.length > 0) {
    // The sessions of an owner share its limits.
    const limits =
      owner === undefined ? rateLimits : rateLimits.map((limit) => ({ ...limit, by: "all" as const }));
    addFor(
      limits.flatMap(({ tools }) => tools),
      // A dry run does not make all calls, so it consumes no quota.
      calls.limitCalls(limits, {
        counts: onPlannedWrite === undefined ? await counts.get() : undefined,
        owner: owner?.id,
      }),
    );
  }
  if (hasFlowRules(loaded, settings)) concerned.push(() => true);
  if (onPlannedWrite !== undefined) guards.push(calls.planWrites(onPlannedWrite, readTools));
  if (onPlannedWrite !== undefined || approvedWrites !== undefined) {
    const isRead = matchTools(readTools);
    concerned.push((tool) => tool.annotations?.readOnlyHint !== true && !isRead(calledTool(tool)));
  }
  if (approvedWrites !== undefined) guards.push(calls.followPlan(approvedWrites, readTools));
  else if (rules.length > 0 || (enabled && approvals.length > 0)) {
    const { onApprove: approve, onElicit: elicit, audit } = settings;
    guards.push(calls.requireApproval({ ...approvalsOf(loaded), approve, elicit, audit }));
    const test = await approvalTest(loaded);
    needsApproval = test;
    concerned.push((tool) => test({ ...tool, kind: "local" }));
  }
  // The lists of tools apply even if the review is disabled.
  const isAllowed = allowTools(allowedTools, blockedTools);
  return {
    isAllowed,
    guards,
    needsApproval,
    /** Whether a guard may refuse, count, hold back or ask about calls of a file tool. */
    concern: (tool: NamedTool, allowedTools?: readonly string[]) =>
      isAllowed(calledTool(tool), { allowedTools }) !== true || concerned.some((concerns) => concerns(tool)),
  };
}

/** Decides by patterns whether a tool may be called: `true`, or the reason why not. */
export function allowTools(allowedTools: readonly string[], blockedTools: readonly string[]) {
  const isBlocked = matchTools(blockedTools);
  const isAllowed = matchTools(allowedTools);
  /** Caches the matcher of each run's list, which comes with each of its calls. */
  const ofRuns = new WeakMap<readonly string[], ReturnType<typeof matchTools>>();
  return (
    tool: Omit<ToolCall, "args">,
    { allowedTools: ofRun }: Pick<InvokeContext, "allowedTools"> = {},
  ): true | string => {
    if (isBlocked(tool)) return "it is blocked here";
    if (!isAllowed(tool)) return "it is not among the tools that are allowed here";
    if (ofRun === undefined) return true;
    const matches = ofRuns.get(ofRun) ?? matchTools(ofRun);
    ofRuns.set(ofRun, matches);
    return matches(tool) || "it is not among the tools of this run";
  };
}
