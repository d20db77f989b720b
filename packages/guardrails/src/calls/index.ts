export { applyRules } from "./apply-rules.ts";
export type { CallRule, RuledCall } from "./apply-rules.ts";
export { checkEgress } from "./check-egress.ts";
export type { EgressRule, EgressSettings } from "./check-egress.ts";
export { checkInputs, findUnwanted } from "./check-inputs.ts";
export type { InputSettings, ContentFilter } from "./check-inputs.ts";
export {
  describeApproval,
  elicitApproval,
  approvalReason,
  requireApproval,
  createSharedApprovals,
} from "./require-approval.ts";
export type { CallGuard, GuardedCall, ToolMatch } from "./guarded-call.ts";
export { limitCalls } from "./limit-calls.ts";
export type { RateLimit } from "./limit-calls.ts";
export { followPlan, planWrites } from "./plan-writes.ts";
export type { PlannedWrite } from "./plan-writes.ts";
export type { ApprovalMemory, ApprovalSettings, SharedApprovalsSettings } from "./require-approval.ts";
export { matchTools } from "./guarded-call.ts";
