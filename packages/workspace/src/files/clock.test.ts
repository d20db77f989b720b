import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { temporaryWorkspace } from "../../test/temporary-workspace.ts";
import { createSessionLog, createStateStore, listSessions, readSession } from "../index.ts";
import { withLock } from "./file-lock.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const run = (value: number) => ({ task: "t", result: { code: "", value, output: "", error: null } });

describe("a clock that jumps", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 5, 1) }));
  afterEach(() => void vi.useRealTimers());

  it("turns no session's order round, and ends none before it began", async () => {
    const { workspaceDir } = temporaryWorkspace();
    for (const jump of [0, -30 * DAY_MS, 60 * DAY_MS, -400 * DAY_MS]) {
      vi.setSystemTime(Date.now() + jump);
      const log = createSessionLog({ workspaceDir });
      log.record(run(1));
      vi.setSystemTime(Date.now() - DAY_MS);
      log.record(run(2));
      await log.checkpoint();
      vi.setSystemTime(Date.now() - DAY_MS);
      await log.close();
    }
    const listed = await listSessions(workspaceDir);
    expect(listed.map(({ session_id: id }) => id)).toEqual([
      "session_004",
      "session_003",
      "session_002",
      "session_001",
    ]);
    for (const { session_id: id } of listed) {
      const { started_at: start, tasks, checkpoint, ended_at: end } = await readSession(workspaceDir, id);
      const times = [start, ...tasks.map(({ timestamp }) => timestamp), checkpoint?.timestamp, end];
      expect(times).toEqual(times.toSorted((one, other) => (String(one) < String(other) ? -1 : 1)));
    }
    expect((await readSession(workspaceDir, "last")).session_id).toBe("session_004");
  });

  it("ends a session that is gone on with not before it began", async () => {
    const { workspaceDir } = temporaryWorkspace();
    const first = createSessionLog({ workspaceDir });
    first.record(run(1));
    await first.close();
    vi.setSystemTime(Date.now() - DAY_MS);
    const log = createSessionLog({ workspaceDir, resume: "last" });
    log.record(run(2));
    await log.close();
    const { started_at: start, ended_at: end } = await readSession(workspaceDir, "last");
    expect(Date.parse(end ?? "")).toBeGreaterThanOrEqual(Date.parse(start));
  });

  it("takes no lock from whoever holds it", async () => {
    const key = `clock ${process.pid} ${Math.random()}`;
    const done: string[] = [];
    const [begun, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = withLock(key, "it", async () => {
      begun.resolve();
      await release.promise;
      done.push("first");
    });
    await begun.promise;
    vi.setSystemTime(Date.now() + 10 * DAY_MS);
    const waiting = withLock(key, "it", async () => void done.push("second"));
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(done).toEqual([]);
    release.resolve();
    await Promise.all([held, waiting]);
    expect(done).toEqual(["first", "second"]);
  });

  it("does not age a state, whatever its file's time is", async () => {
    const { workspaceDir } = temporaryWorkspace();
    const store = createStateStore({ workspaceDir });
    const saved = await store.save({ step: 1 });
    vi.setSystemTime(Date.now() + 4_000 * DAY_MS);
    await store.save({ step: 2 }, undefined, saved);
    vi.setSystemTime(0);
    expect(await store.read()).toMatchObject({ data: { step: 2 } });
  });
});
