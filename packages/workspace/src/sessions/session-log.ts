import type { SessionLog } from "@cem/core";
import { startSession, type OpenSession, type SessionLogSettings } from "./open-session.ts";
import { readSession, type StoredSession } from "./session-files.ts";
import { recapSession } from "./session-task.ts";

/** Maximum number of open session logs. A session of a client that returns later gets another log. */
const MAX_OPEN_SESSIONS = 1_000;

/**
 * Creates a log of sessions: files `sessions/session_001.json` and so on in the workspace, which guest code can read, and
 * `sessions/current_session.json`, a second name of the last one. Each is replaced atomically, so that it is always
 * readable, even after a kill. Nothing is read or written before the first run.
 */
export function createSessionLog(settings: SessionLogSettings): SessionLog {
  const { logDir, resume, workspaceDir } = settings;
  const sessions = new Map<string, OpenSession>();
  const disk = { restUntil: 0 };
  const ending = new Set<Promise<void>>();
  /** In milliseconds. Read once, so that clock changes don't affect the order of the log. */
  const epoch = Date.now() - performance.now();
  let resumed: Promise<StoredSession> | undefined;
  const now = (): Date => new Date(epoch + performance.now());

  function resumedSession(): Promise<StoredSession> | undefined {
    if (resume !== undefined) resumed ??= readSession(logDir ?? workspaceDir, resume);
    return resumed;
  }

  function end(session: OpenSession): Promise<void> {
    const ended = session.end(now()).finally(() => ending.delete(ended));
    ending.add(ended);
    return ended;
  }

  function sessionOf(key: string): OpenSession {
    const known = sessions.get(key);
    if (known !== undefined && !known.isFull()) {
      // Moved to the end as the most recently used.
      sessions.delete(key);
      sessions.set(key, known);
      return known;
    }
    const before = known && end(known);
    const earlier = known === undefined && key === "" ? resumedSession() : undefined;
    const made = startSession(settings, { disk, earlier, before, startedAt: now() });
    sessions.set(key, made);
    const [oldest] = sessions;
    if (sessions.size > MAX_OPEN_SESSIONS && oldest !== undefined) {
      void end(oldest[1]);
      sessions.delete(oldest[0]);
    }
    return made;
  }

  const log: SessionLog = {
    specificationVersion: "v1",
    isResumed: resume !== undefined,
    record: (run, session = "") => sessionOf(session).add(run, now()),
    checkpoint: async ({ step, context = null, session = "" } = {}) =>
      sessionOf(session).checkpoint(step, context, now()),
    async read(session = "") {
      const open = sessions.get(session);
      if (open !== undefined) return open.read();
      return session === "" ? resumedSession() : undefined;
    },
    async recap(session) {
      const record = await log.read(session);
      return record && recapSession(record);
    },
    async close() {
      for (const session of sessions.values()) void end(session);
      sessions.clear();
      await Promise.all(ending);
    },
  };
  return log;
}
