import type { AuditLog } from "@cem/core";
import type { CallGuard } from "../calls/guarded-call.ts";
import { auditedValue } from "./audited-value.ts";

/** Codes of calls that were refused before they reached their tool. */
const REFUSED = new Set([
  "TOOL_NOT_ALLOWED",
  "ARGUMENTS_INVALID",
  "RATE_LIMITED",
  "BUDGET_EXCEEDED",
  "NOT_APPROVED",
  "TOOL_NOT_FOUND",
  "TOOL_CHANGED",
]);

/** Records every call and every refusal. Put it outside of what turns exceptions into results. */
export function auditCalls(audit: AuditLog): CallGuard {
  return (next) => ({
    specificationVersion: "v1",
    async invoke(call, context) {
      const { server, tool } = call;
      const { run, session } = context;
      const args = auditedValue(call.args);
      const began = performance.now();
      const result = await next.invoke(call, context);
      const ms = Math.round((performance.now() - began) * 100) / 100;
      if (result.ok) {
        audit.record({
          type: "call",
          run,
          session,
          server,
          tool,
          args,
          result: auditedValue(result.value),
          ok: true,
          ms,
        });
      } else if (REFUSED.has(result.error.code)) {
        audit.record({ type: "refusal", run, session, server, tool, args, error: result.error.code });
      } else {
        audit.record({
          type: "call",
          run,
          session,
          server,
          tool,
          args,
          ok: false,
          error: result.error.code,
          ms,
        });
      }
      return result;
    },
  });
}
