import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Sessions } from "./sessions.ts";
import type { SessionsSettings } from "./sessions.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
let closed: string[] = [];

function createSessions(settings: Partial<SessionsSettings<string>> = {}): Sessions<string> {
  const close = async (value: string): Promise<void> => void closed.push(value);
  return new Sessions<string>({ capacity: 2, share: 2, close, ...settings });
}

/** Opens a session as its owner's, with its id as its value. */
function open(sessions: Sessions<string>, id: string, quotaOwner = "here"): string {
  const slot = sessions.reserve(quotaOwner);
  if (typeof slot === "string") return slot;
  slot.fill(id, quotaOwner, id);
  return "open";
}

describe("Sessions", () => {
  beforeEach(() => {
    closed = [];
    vi.useFakeTimers();
  });
  afterEach(() => void vi.useRealTimers());

  describe("get", () => {
    it("gives a session to its owner only", () => {
      const sessions = createSessions();
      open(sessions, "1", "ada");
      expect(sessions.get("1", "ada")).toBe("1");
      expect(sessions.get("1", "bob")).toBeUndefined();
      expect(sessions.get("2", "ada")).toBeUndefined();
    });
  });

  describe("take", () => {
    it("refuses beyond the capacity where each session has a request under way", () => {
      const sessions = createSessions();
      open(sessions, "1", "ada");
      open(sessions, "2", "bob");
      const releases = ["1", "2"].map((id) => sessions.hold(id, "request"));
      expect([sessions.isFull, open(sessions, "3", "eve")]).toEqual([true, "full"]);
      releases[1]?.();
      expect([sessions.isFull, open(sessions, "3", "eve"), closed]).toEqual([false, "open", ["2"]]);
    });

    it("counts places that are not filled yet, until they are given back", () => {
      const sessions = createSessions({ capacity: 1 });
      const slot = sessions.reserve("ada");
      expect([open(sessions, "2", "bob"), sessions.size]).toEqual(["full", 0]);
      if (typeof slot !== "string") slot.release();
      expect(open(sessions, "2", "bob")).toBe("open");
    });

    it("closes the session that did nothing for the longest time", async () => {
      const sessions = createSessions({ capacity: 3, share: 3 });
      for (const id of ["1", "2", "3"]) {
        open(sessions, id);
        await vi.advanceTimersByTimeAsync(SECOND_MS);
      }
      sessions.get("1", "here");
      open(sessions, "4");
      expect(closed).toEqual(["2"]);
    });

    it("spares sessions that worked, and most of all those that a client listens to", async () => {
      const sessions = createSessions({ capacity: 3, share: 3, minIdleMs: SECOND_MS });
      for (const id of ["listening", "worked", "idle"]) open(sessions, id);
      const release = sessions.hold("listening", "stream");
      sessions.markWorked("worked");
      open(sessions, "4");
      expect(closed).toEqual(["idle"]);
      sessions.markWorked("4");
      // Nobody of the three was idle for long enough.
      expect(open(sessions, "5")).toBe("full");
      await vi.advanceTimersByTimeAsync(2 * SECOND_MS);
      open(sessions, "5");
      sessions.markWorked("5");
      await vi.advanceTimersByTimeAsync(2 * SECOND_MS);
      open(sessions, "6");
      release();
      expect(closed).toEqual(["idle", "worked", "4"]);
    });

    it("gives one client a share: who floods closes sessions of its own", () => {
      const sessions = createSessions({ capacity: 10, share: 5 });
      open(sessions, "victim", "victim");
      for (let at = 0; at < 1_000; at++) expect(open(sessions, `flood-${at}`, "flood")).toBe("open");
      expect([sessions.size, sessions.get("victim", "victim")]).toEqual([6, "victim"]);
      expect(open(sessions, "other", "other")).toBe("open");
    });
  });

  describe("the idle timeout", () => {
    it("closes sessions that nobody used for 30 minutes", async () => {
      const sessions = createSessions();
      open(sessions, "1");
      open(sessions, "2");
      await vi.advanceTimersByTimeAsync(20 * MINUTE_MS);
      sessions.get("2", "here");
      sessions.get("1", "somebody else");
      await vi.advanceTimersByTimeAsync(10 * MINUTE_MS - 1);
      expect(closed).toEqual([]);
      await vi.advanceTimersByTimeAsync(MINUTE_MS);
      expect(closed).toEqual(["1"]);
      expect([sessions.get("1", "here"), sessions.get("2", "here")]).toEqual([undefined, "2"]);
    });

    it("can be shorter than the interval of the sweep", async () => {
      const sessions = createSessions({ idleMs: 100 });
      open(sessions, "1");
      await vi.advanceTimersByTimeAsync(201);
      expect(closed).toEqual(["1"]);
    });

    it("spares sessions in use, and begins when the use ends", async () => {
      const sessions = createSessions({ idleMs: 100 });
      open(sessions, "1");
      open(sessions, "2");
      const release = sessions.hold("1", "request");
      await vi.advanceTimersByTimeAsync(300);
      expect([closed, sessions.size]).toEqual([["2"], 1]);
      release();
      await vi.advanceTimersByTimeAsync(201);
      expect(sessions.size).toBe(0);
    });

    it("goes on where closing fails", async () => {
      const close = async (value: string): Promise<void> => {
        closed.push(value);
        throw new Error("can't be closed");
      };
      const sessions = createSessions({ idleMs: 100, close });
      open(sessions, "1");
      open(sessions, "2");
      await vi.advanceTimersByTimeAsync(300);
      expect([closed, sessions.size]).toEqual([["1", "2"], 0]);
    });
  });

  describe("close", () => {
    it("closes all sessions, and sweeps no more", async () => {
      const sessions = createSessions({
        idleMs: 100,
        close: async (value) => {
          closed.push(value);
          throw new Error("can't be closed");
        },
      });
      open(sessions, "1");
      open(sessions, "2");
      await sessions.close();
      expect([closed, sessions.size, vi.getTimerCount()]).toEqual([["1", "2"], 0, 0]);
    });
  });
});
