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
  redactor?: Redactor | undefined;
  onElicit?: Elicit | undefined;
  audit?: AuditLog | undefined;
  /** Values that must not leave in arguments. */
  secrets?: readonly string[] | undefined;
}

/** Checks of a call between the validation of its arguments and its tool. */
export type CallGuards = Awaited<ReturnType<typeof createCallGuards>>;

/** Whether anything is set by which a guard may concern tools that are files. With the defaults none does. */
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

/** Whether rules decide which values may go to which tools. */
function hasFlowRules(loaded: Project, options: Pick<CallGuardSettings, "redactor">): boolean {
  return loaded.config.privacy.rules.length > 0 && redactorOf(loaded, options) !== undefined;
}

/**
 * Which calls need a yes. Where nobody has said so, `destructive` is not for tools that are files: the sandbox holds what they
 * do. A workflow adds to what is set, so its own `destructive` comes behind the default.
 */
function approvalsOf({
  config: { guardrails },
  origins,
}: Project): Pick<ApprovalSettings, "tools" | "sandboxed"> {
  const { enabled, approvals } = guardrails;
  const isDefault = origins["guardrails.approvals"]?.from === "default";
  const sandboxed = !isDefault || approvals.lastIndexOf("destructive") > 0;
  return { tools: enabled ? approvals : [], sandboxed };
}

/** Creates the test whether calls of a tool need a person's yes, whatever their arguments. */
export async function approvalTest(loaded: Project): Promise<(tool: ToolDefinition) => boolean> {
  const { approvalReason } = await import("@cem/guardrails/calls");
  const reasonFor = approvalReason(approvalsOf(loaded));
  return ({ annotations, kind, ...tool }) =>
    reasonFor({ ...calledTool(tool), found: { annotations, sandboxed: kind !== "host" } }) !== undefined;
}

const EVERY_TOOL = ["*"];

/** Creates the guards of calls that the configuration and the options ask for. What is off is not there. */
export async function createCallGuards(loaded: Project, settings: CallGuardSettings) {
  const {
    config: { guardrails },
    owner,
    counts,
  } = loaded;
  const calls = await import("@cem/guardrails/calls");
  const { enabled, securityChecks, contentFiltering, rateLimiting, rateLimits } = guardrails;
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
  /** Whether calls of a tool need a person's yes, whatever their arguments. */
  let needsApproval: (tool: ToolDefinition) => boolean = () => false;
  const concerned: ((tool: NamedTool) => boolean)[] = [];
  /** Adds a guard that concerns tools of these names. */
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
  if (rules.length > 0) addFor(EVERY_TOOL, calls.applyRules(rules));
  if (enabled && rateLimiting && rateLimits.length > 0) {
    // The sessions of an owner share its calls.
    const limits =
      owner === undefined ? rateLimits : rateLimits.map((limit) => ({ ...limit, by: "all" as const }));
    addFor(
      limits.flatMap(({ tools }) => tools),
      // A dry run does not make all calls, so it uses up none of those that are free.
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
    const asked = approvalsOf(loaded);
    guards.push(calls.requireApproval({ ...asked, approve: onApprove, elicit: onElicit, audit }));
    const reasonFor = calls.approvalReason(asked);
    needsApproval = await approvalTest(loaded);
    concerned.push(
      ({ annotations, ...tool }) =>
        reasonFor({ ...calledTool(tool), found: { annotations, sandboxed: true } }) !== undefined,
    );
  }
  // Which tools may be called is no matter of the review that can be switched off.
  const isAllowed = allowTools(allowedTools, blockedTools);
  return {
    isAllowed,
    guards,
    needsApproval,
    /** Whether one of them may refuse, question, count or hold back calls of a tool that is a file. */
    concern: (tool: NamedTool, allowedTools?: readonly string[]) =>
      isAllowed(calledTool(tool), { allowedTools }) !== true || concerned.some((concerns) => concerns(tool)),
  };
}

/** Decides by patterns which tools may be called: `true`, or why not. */
export function allowTools(allowedTools: readonly string[], blockedTools: readonly string[]) {
  const isBlocked = matchTools(blockedTools);
  const isAllowed = matchTools(allowedTools);
  /** A run brings the same list with each of its calls. */
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
