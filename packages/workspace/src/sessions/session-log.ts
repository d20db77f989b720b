import type { SessionCheckpoint, SessionLog, SessionRecord } from "@cem/core";
import { OpenSession } from "./open-session.ts";
import type { SessionLogSettings } from "./open-session.ts";
import { readSession } from "./session-files.ts";
import type { StoredSession } from "./session-files.ts";
import { recapSession } from "./session-task.ts";
import type { SessionRun } from "./session-task.ts";

/** Sessions of which the log is held open. A session of a client that comes again later has another log. */
const MAX_OPEN_SESSIONS = 1_000;

/**
 * Creates a log of sessions: files `sessions/session_001.json` and so on in the workspace, which guest code can read, and
 * `sessions/current_session.json`, a second name of the last one. Each is replaced as a whole, so that it can be read at any
 * moment, also after a kill. Nothing is read or written before the first run.
 */
export function createSessionLog(settings: SessionLogSettings): SessionLog {
  return new FileSessionLog(settings);
}

class FileSessionLog implements SessionLog {
  readonly specificationVersion = "v1";
  readonly #settings: SessionLogSettings;
  readonly #sessions = new Map<string, OpenSession>();
  readonly #disk = { restUntil: 0 };
  readonly #ending = new Set<Promise<void>>();
  /** In milliseconds. Read once: a clock that is set while the log goes on does not turn its order round. */
  readonly #epoch = Date.now() - performance.now();
  #resumed: Promise<StoredSession> | undefined;

  constructor(settings: SessionLogSettings) {
    this.#settings = settings;
  }

  record(run: SessionRun, session = ""): void {
    this.#sessionOf(session).add(run, this.#now());
  }

  async checkpoint({
    step,
    context = null,
    session = "",
  }: Parameters<SessionLog["checkpoint"]>[0] = {}): Promise<SessionCheckpoint> {
    return this.#sessionOf(session).checkpoint(step, context, this.#now());
  }

  async read(session = ""): Promise<SessionRecord | undefined> {
    const open = this.#sessions.get(session);
    if (open !== undefined) return open.read();
    return session === "" ? this.#resume() : undefined;
  }

  async recap(session = ""): Promise<string | undefined> {
    const record = await this.read(session);
    return record && recapSession(record);
  }

  get isResumed(): boolean {
    return this.#settings.resume !== undefined;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) void this.#end(session);
    this.#sessions.clear();
    await Promise.all(this.#ending);
  }

  #now(): Date {
    return new Date(this.#epoch + performance.now());
  }

  #resume(): Promise<StoredSession> | undefined {
    const { logDir, resume, workspaceDir } = this.#settings;
    if (resume !== undefined) this.#resumed ??= readSession(logDir ?? workspaceDir, resume);
    return this.#resumed;
  }

  #sessionOf(key: string): OpenSession {
    const known = this.#sessions.get(key);
    if (known !== undefined && !known.isFull) {
      // Used last.
      this.#sessions.delete(key);
      this.#sessions.set(key, known);
      return known;
    }
    const before = known && this.#end(known);
    const earlier = known === undefined && key === "" ? this.#resume() : undefined;
    const made = new OpenSession(this.#settings, {
      disk: this.#disk,
      earlier,
      before,
      startedAt: this.#now(),
    });
    this.#sessions.set(key, made);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_OPEN_SESSIONS && oldest !== undefined) {
      void this.#end(this.#sessions.get(oldest) as OpenSession);
      this.#sessions.delete(oldest);
    }
    return made;
  }

  #end(session: OpenSession): Promise<void> {
    const ended = session.end(this.#now()).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
    return ended;
  }
}
