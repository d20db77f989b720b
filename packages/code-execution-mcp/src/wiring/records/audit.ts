import { toErrorInfo, type AuditEvent, type AuditLog } from "@cem/core";
import { customerDigest } from "@cem/core/telemetry";
import type { Log } from "../log.ts";
import { quotaKeyOf, type Project } from "../project.ts";

/**
 * Creates the configured audit log, which also copies events to the log.
 *
 * @param isLogRead - Whether the log has a reader for more than critical entries.
 * @returns `undefined` if nothing is to be recorded.
 */
export async function createConfiguredAudit(
  { config, owner }: Project,
  log: Log,
  isLogRead: boolean,
): Promise<AuditLog | undefined> {
  const { auditFile } = config.logging;
  let file: AuditLog | undefined;
  if (auditFile !== undefined) {
    const { createAuditLog } = await import("@cem/guardrails/audit");
    const problem = `The audit log ${auditFile} was changed or is damaged: cem audit verify shows where. It goes on after that.`;
    file = createAuditLog({ file: auditFile, onBroken: () => log("critical", problem) });
  }
  if (file === undefined && !isLogRead) return undefined;
  const customer = owner && customerDigest(quotaKeyOf(owner.id));
  return {
    specificationVersion: "v1",
    record(given) {
      const event = customer === undefined ? given : { ...given, customer };
      if (isLogRead) log(...toLogLine(event));
      try {
        file?.record(event);
      } catch (error) {
        if (!HAPPENED.has(event.type)) throw error;
        log("critical", `${toErrorInfo(error).message} The end of a call or run is missing: ${event.run}`);
      }
    },
  };
}

/**
 * Events that can't be prevented any more, and whose beginning is in the log. A refusal would hide the results of calls
 * that were made, and ask to repeat them.
 */
const HAPPENED: ReadonlySet<AuditEvent["type"]> = new Set(["call", "run-ended"]);

/** Log line of an event. Like the audit log, it contains no values. */
function toLogLine(event: AuditEvent): Parameters<Log> {
  const { run: id = "a run", customer } = event;
  const run = customer === undefined ? id : `${id} of customer ${customer}`;
  switch (event.type) {
    case "run-started":
      return ["info", `${run} began: ${event.kind} of ${event.input.bytes} bytes`];
    case "verdict": {
      const rules = event.findings.map(({ rule, line }) =>
        line === undefined ? rule : `${rule} (line ${line})`,
      );
      const found = rules.length === 0 ? "no findings" : rules.join(", ");
      return event.allowed
        ? ["debug", `${run} was reviewed: ${found}`]
        : ["warning", `${run} was refused by the review: ${found}`];
    }
    case "call-started":
      return ["debug", `${run} calls ${event.server}.${event.tool}`];
    case "call": {
      const outcome = event.ok ? "success" : (event.error ?? "error");
      return [
        event.ok ? "debug" : "warning",
        `${run} called ${event.server}.${event.tool}: ${outcome}, ${event.ms} ms`,
      ];
    }
    case "refusal":
      return ["warning", `${run} was refused a call of ${event.server}.${event.tool}: ${event.error}`];
    case "approval":
      return ["info", `${run} asked for ${event.server}.${event.tool}: ${event.answer}`];
    case "run-ended": {
      const error = event.error === undefined ? "" : ` (${event.error})`;
      const level = event.status === "success" ? "info" : "warning";
      return [
        level,
        `${run} ended: ${event.status}${error}, calls: ${event.calls}, ${Math.round(event.ms)} ms`,
      ];
    }
  }
}
