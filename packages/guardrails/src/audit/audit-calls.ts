import type { AuditEvent, AuditLog, JsonValue, ToolResult } from "@cem/core";
import { auditDigest } from "@cem/core/telemetry";
import { checkingGuard, type CallGuard } from "../calls/guarded-call.ts";

type AuditedValue = Extract<AuditEvent, { type: "refusal" }>["args"];

/** Maximum number of arguments whose types are listed. */
const MAX_NAMED_TYPES = 32;

/** Describes a value without disclosing it: types, size, and a digest with the key of the log. */
export function auditedValue(audit: AuditLog, value: JsonValue | undefined): AuditedValue {
  const json = JSON.stringify(value ?? null);
  return {
    types: typesOf(value),
    bytes: Buffer.byteLength(json),
    digest: auditDigest(audit, json),
  };
}

function typesOf(value: JsonValue | undefined): AuditedValue["types"] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return typeOf(value);
  const entries = Object.entries(value).slice(0, MAX_NAMED_TYPES);
  // A name that is not a plain word may itself be a value, such as an account number.
  return Object.fromEntries(
    entries.flatMap(([name, entry]) =>
      /^[A-Za-z_]{1,40}\d{0,2}$/.test(name) ? [[name, typeOf(entry)]] : [],
    ),
  );
}

function typeOf(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Codes of calls that were refused before they reached their tool. */
const REFUSED = new Set([
  "TOOL_NOT_ALLOWED",
  "ARGUMENTS_INVALID",
  "RATE_LIMITED",
  "NOT_APPROVED",
  "TOOL_NOT_FOUND",
  "TOOL_CHANGED",
  "AUDIT_UNWRITABLE",
]);

/** Records that a call is about to be made. Put it right before the tool: a call that can't be recorded is not made. */
export function auditStarts(audit: AuditLog): CallGuard {
  return checkingGuard(({ server, tool }, { run, session }) =>
    audit.record({ type: "call-started", run, session, server, tool }),
  );
}

/** Records every call and every refusal. Put it outside of the middleware that converts exceptions to results. */
export function auditCalls(audit: AuditLog): CallGuard {
  return (next) => ({
    specificationVersion: "v1",
    async invoke(call, context) {
      const { server, tool } = call;
      const { run, session } = context;
      const args = auditedValue(audit, call.args);
      const began = performance.now();
      const record = (result: ToolResult): void => {
        const ms = Math.round((performance.now() - began) * 100) / 100;
        const about = { run, session, server, tool, args } as const;
        if (result.ok) {
          const value = auditedValue(audit, result.value);
          return audit.record({ type: "call", ...about, result: value, ok: true, ms });
        }
        const { code, details } = result.error;
        const isRefused = REFUSED.has(code) || (code === "ABORTED" && details?.["isSent"] !== true);
        if (isRefused) return audit.record({ type: "refusal", ...about, error: code });
        audit.record({ type: "call", ...about, ok: false, error: code, ms });
      };
      const result = await next.invoke(call, context);
      record(result);
      return result;
    },
  });
}
