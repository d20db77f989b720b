import type { Config } from "@cem/config";
import { calledTool, type ReviewRequest, type Verdict } from "@cem/core";
import { createGuard } from "@cem/guardrails";
import { allowTools } from "../wiring/calls/call-guards.ts";

/** The settings of the default guard that a review needs. They can be cloned. */
export type ReviewSettings = { strict: boolean } & Pick<
  Config["guardrails"],
  "blockedPatterns" | "securityChecks" | "allowedTools" | "blockedTools"
>;

/** Reviews a program as the default guard does, on the calling thread. */
export async function review(
  { allowedTools, blockedTools, ...settings }: ReviewSettings,
  request: ReviewRequest,
): Promise<Verdict> {
  const isAllowed = allowTools(allowedTools, blockedTools);
  const guard = createGuard({
    ...settings,
    isAllowed: (tool, ofRun) => isAllowed(calledTool(tool), { allowedTools: ofRun }),
  });
  return guard.review(request);
}
