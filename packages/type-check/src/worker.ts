import { parentPort, workerData } from "node:worker_threads";
import type { ToolFolders } from "./host-files.ts";
import { type CheckRequest, ProgramCheck } from "./program-check.ts";
import type { WorkerAnswer, WorkerMessage } from "./worker-messages.ts";

const check = new ProgramCheck(workerData as ToolFolders);
// Reads the library, so that the first check does not have to.
answer({ code: "", tools: [] });
send({ ready: true });

parentPort?.on("message", (request: CheckRequest) => send(answer(request)));

function send(message: WorkerMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
  parentPort?.postMessage(message);
}

function answer(request: CheckRequest): WorkerAnswer {
  try {
    const findings = check.check(request);
    const files = findings.length === 0 ? check.filesOfLastCheck() : undefined;
    return { ok: true, findings, ...(files !== undefined && { files }) };
  } catch (error) {
    // Code that is nested a thousand deep ends TypeScript's stack, and means nothing for the next.
    return { ok: false, reason: error instanceof Error ? error.message.slice(0, 200) : "unknown" };
  }
}
