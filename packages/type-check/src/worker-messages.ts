import type { Finding } from "@cem/core";
import type { FileHashes } from "./check-cache.ts";

/** The worker sends `ready` once when TypeScript is loaded, then one answer for each request, in order. */
export type WorkerMessage = { ready: true } | WorkerAnswer;

/** `files` is set when nothing was found and the result may be cached: the hashes of the files it depends on. */
export type WorkerAnswer =
  | { ok: true; findings: Finding[]; files?: FileHashes | undefined }
  | { ok: false; reason: string };
