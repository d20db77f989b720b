import type { SessionRecord } from "@cem/core";
import type { SessionSummary } from "@cem/workspace";
import type { ConfigSource } from "../agent-options.ts";
import { loadFrom } from "../wiring/load.ts";
import { logDirOf } from "../wiring/workspace.ts";

export type { SessionSummary } from "@cem/workspace";

/** Lists the logged sessions of the workspace, newest first. */
export async function listSessions(
  source: ConfigSource & { max?: number | undefined } = {},
): Promise<SessionSummary[]> {
  const loaded = await loadFrom(source);
  const workspace = await import("@cem/workspace");
  return workspace.listSessions(logDirOf(loaded), source);
}

/**
 * Reads the log of a session.
 *
 * @param id - `session_001`, `1`, or `last`.
 * @throws CemError `SESSION_NOT_FOUND`
 */
export async function readSession(id: string, source: ConfigSource = {}): Promise<SessionRecord> {
  const loaded = await loadFrom(source);
  const workspace = await import("@cem/workspace");
  return workspace.readSession(logDirOf(loaded), id);
}
