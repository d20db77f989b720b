import type { Finding } from "@cem/core";

/** `ready` once, when TypeScript is loaded; then one answer to each request, in order. */
export type WorkerMessage = { ready: true } | WorkerAnswer;

export type WorkerAnswer = { ok: true; findings: Finding[] } | { ok: false; reason: string };
