import type { Finding } from "@cem/core";
import type { FileHashes } from "./verdict-file.ts";

/** `ready` once, when TypeScript is loaded; then one answer to each request, in order. */
export type WorkerMessage = { ready: true } | WorkerAnswer;

/** `files` only where nothing was found and the verdict may be kept. */
export type WorkerAnswer =
  | { ok: true; findings: Finding[]; files?: FileHashes | undefined }
  | { ok: false; reason: string };
