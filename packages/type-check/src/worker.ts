import { parentPort, workerData } from "node:worker_threads";
import type { ToolFolders } from "./host-files.ts";
import { type CheckRequest, ProgramChecker } from "./program-checker.ts";
import type { WorkerAnswer, WorkerMessage } from "./worker-messages.ts";

const checker = new ProgramChecker(workerData as ToolFolders);
// Loads the library, so that the first check is quick.
answer({ code: "", tools: [] });
send({ ready: true });

parentPort?.on("message", (request: CheckRequest) => send(answer(request)));

function send(message: WorkerMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
  parentPort?.postMessage(message);
}

function answer(request: CheckRequest): WorkerAnswer {
  try {
    const findings = checker.check(request);
    const files = findings.length === 0 ? checker.filesOfLastCheck() : undefined;
    return { ok: true, findings, files };
  } catch (error) {
    // Deeply nested code overflows TypeScript's stack; later checks are not affected.
    return { ok: false, reason: error instanceof Error ? error.message.slice(0, 200) : "unknown" };
  }
}
