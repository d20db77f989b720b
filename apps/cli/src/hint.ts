import type { ErrorInfo } from "@cem/core";
import { hintFor } from "@cem/core/errors";
import type { ExaminedServer, GeneratedServer } from "code-execution-mcp/admin";

/** The error with what helps against it. */
export function withHint(error: ErrorInfo): ErrorInfo {
  return { ...error, hint: hintFor(error) };
}

/** Servers as they were examined or generated, with what helps against their errors. */
export function withHints<S extends Partial<ExaminedServer> | Partial<GeneratedServer>>(
  servers: readonly S[],
): S[] {
  return servers.map((server) => {
    const { error, lastError }: { error?: ErrorInfo | undefined; lastError?: ErrorInfo | undefined } = server;
    if (error !== undefined) return { ...server, error: withHint(error) };
    return lastError === undefined ? server : { ...server, lastError: withHint(lastError) };
  });
}
