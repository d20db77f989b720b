import { QUEUE } from "./names.ts";

/** Attributes of a span about a run in the queue. */
export function messaging(operation: "send" | "process"): Record<string, string> {
  return {
    "messaging.system": "bullmq",
    "messaging.destination.name": QUEUE,
    "messaging.operation.name": operation,
    "messaging.operation.type": operation,
  };
}
