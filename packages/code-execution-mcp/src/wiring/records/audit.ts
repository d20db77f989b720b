import { readFile } from "node:fs/promises";
import type { Recording } from "@cem/bridge/recording";
import { CemError } from "@cem/core";
import type { AuditEvent, AuditLog } from "@cem/core";
import { replaceFile } from "@cem/core/files";
import type { Log } from "../log.ts";
import type { Project } from "../project.ts";

const BYTES_PER_MB = 1024 * 1024;

/**
 * The audit log that the configuration asks for, which also writes what happens to the log.
 *
 * @param log - Absent where nobody reads a log.
 * @returns `undefined` where nothing is to be recorded.
 */
export async function createConfiguredAudit(
  { config }: Project,
  log: Log | undefined,
): Promise<AuditLog | undefined> {
  const { auditFile, auditMaxMb } = config.logging;
  let file: AuditLog | undefined;
  if (auditFile !== undefined) {
    const { createAuditLog } = await import("@cem/guardrails/audit");
    file = createAuditLog({ file: auditFile, maxBytes: auditMaxMb * BYTES_PER_MB });
  }
  if (file === undefined && log === undefined) return undefined;
  return {
    specificationVersion: "v1",
    record(event) {
      log?.(...toLogLine(event));
      file?.record(event);
    },
  };
}

/** Log line of an event. Like the audit log, it contains no values. */
function toLogLine(event: AuditEvent): Parameters<Log> {
  const run = event.run ?? "a run";
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

/**
 * Makes sure, before anything runs, that a recording can be written. Only its owner may read it: what tools answer can
 * be private.
 *
 * @throws CemError `RECORDING_UNWRITABLE`.
 */
export async function openRecordingFile(file: string): Promise<(recording: Recording) => Promise<void>> {
  const write = async (recording: Recording): Promise<void> => {
    try {
      // A folder that is not there is a slip of the pen.
      await replaceFile(file, `${JSON.stringify(recording, undefined, 2)}\n`, { makeFolders: false });
    } catch (cause) {
      throw new CemError(
        "RECORDING_UNWRITABLE",
        `The recording ${file} can't be written: ${messageOf(cause)}`,
        {
          details: { file },
          cause,
        },
      );
    }
  };
  await write({ format: "cem-recording", version: 1, calls: [] });
  return write;
}

/** @throws CemError `RECORDING_UNREADABLE`. */
export async function readRecordingFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as unknown;
  } catch (cause) {
    throw new CemError("RECORDING_UNREADABLE", `The recording ${file} can't be read: ${messageOf(cause)}`, {
      details: { file },
      cause,
    });
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
