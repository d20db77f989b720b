import type { ErrorCode } from "./errors.ts";

/** Fields that every entry of an audit log can have. */
interface AuditSubject {
  /** The id of the run. */
  run?: string | undefined;
  session?: string | undefined;
  /** A digest of the customer's id. Absent where there are no customers. */
  customer?: string | undefined;
}

/** A value in an audit log: its type, size and digest, never the value itself. */
export interface AuditedValue {
  /** The JSON type of each argument by name; for any other value, its own type. */
  types: string | Readonly<Record<string, string>>;
  /** Bytes of its JSON. */
  bytes: number;
  /** The HMAC-SHA-256 of its JSON, in hexadecimal. The key is random and valid while the log is open. */
  digest: string;
}

/** One event of an audit log. Never contains values. */
export type AuditEvent = AuditSubject &
  (
    | { type: "run-started"; kind: "task" | "code"; input: AuditedValue }
    | {
        type: "verdict";
        allowed: boolean;
        origin: "rules" | "llm" | "given";
        code: AuditedValue;
        findings: readonly { rule: string; severity: string; line?: number | undefined }[];
      }
    /** A call is about to be made on the host. Without a `call` after it, its process died or the log could not be written. */
    | { type: "call-started"; server: string; tool: string }
    | {
        type: "call";
        server: string;
        tool: string;
        /** Absent for a tool whose code runs in the sandbox. */
        args?: AuditedValue | undefined;
        result?: AuditedValue | undefined;
        ok: boolean;
        /** `ABORTED`: it was sent, and cancelled before its answer came. */
        error?: ErrorCode | undefined;
        ms: number;
      }
    | { type: "refusal"; server: string; tool: string; args: AuditedValue; error: ErrorCode }
    | {
        type: "approval";
        server: string;
        tool: string;
        args: AuditedValue;
        answer: "once" | "session" | "no" | "unanswered" | "earlier";
      }
    | { type: "run-ended"; status: string; error?: ErrorCode | undefined; calls: number; ms: number }
  );

/** Records who did what, for later proof. */
export interface AuditLog {
  readonly specificationVersion: "v1";
  /** @throws CemError `AUDIT_UNWRITABLE`: an action that can't be recorded is not performed. */
  record(event: AuditEvent): void;
}
