import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Sessions } from "./sessions.ts";
import type { SessionsSettings } from "./sessions.ts";

const MINUTE_MS = 60_000;
let closed: string[] = [];

function createSessions(settings: Partial<SessionsSettings<string>> = {}): Sessions<string> {
  const close = async (value: string): Promise<void> => void closed.push(value);
  return new Sessions<string>({ capacity: 2, close, ...settings });
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
      sessions.add("1", "ada", "one");
      expect(sessions.get("1", "ada")).toBe("one");
      expect(sessions.get("1", "bob")).toBeUndefined();
      expect(sessions.get("2", "ada")).toBeUndefined();
    });
  });

  describe("isFull", () => {
    it("holds at the capacity", () => {
      const sessions = createSessions();
      sessions.add("1", "", "one");
      expect([sessions.size, sessions.isFull]).toEqual([1, false]);
      sessions.add("2", "", "two");
      expect([sessions.size, sessions.isFull]).toEqual([2, true]);
      sessions.delete("1");
      expect([sessions.size, sessions.isFull]).toEqual([1, false]);
      expect(closed).toEqual([]);
    });
  });

  describe("the idle timeout", () => {
    it("closes sessions that nobody used for 30 minutes", async () => {
      const sessions = createSessions();
      sessions.add("1", "", "one");
      sessions.add("2", "", "two");
      await vi.advanceTimersByTimeAsync(20 * MINUTE_MS);
      sessions.get("2", "");
      sessions.get("1", "somebody else");
      await vi.advanceTimersByTimeAsync(10 * MINUTE_MS - 1);
      expect(closed).toEqual([]);
      await vi.advanceTimersByTimeAsync(MINUTE_MS);
      expect(closed).toEqual(["one"]);
      expect([sessions.get("1", ""), sessions.get("2", "")]).toEqual([undefined, "two"]);
    });

    it("can be shorter than the interval of the sweep", async () => {
      const sessions = createSessions({ idleMs: 100 });
      sessions.add("1", "", "one");
      await vi.advanceTimersByTimeAsync(201);
      expect(closed).toEqual(["one"]);
    });

    it("spares sessions in use", async () => {
      const sessions = createSessions({ idleMs: 100, isBusy: (value) => value === "one" });
      sessions.add("1", "", "one");
      sessions.add("2", "", "two");
      await vi.advanceTimersByTimeAsync(300);
      expect([closed, sessions.size]).toEqual([["two"], 1]);
    });

    it("goes on where closing fails", async () => {
      const close = async (value: string): Promise<void> => {
        closed.push(value);
        throw new Error("can't be closed");
      };
      const sessions = createSessions({ idleMs: 100, close });
      sessions.add("1", "", "one");
      sessions.add("2", "", "two");
      await vi.advanceTimersByTimeAsync(300);
      expect([closed, sessions.size]).toEqual([["one", "two"], 0]);
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
      sessions.add("1", "", "one");
      sessions.add("2", "", "two");
      await sessions.close();
      expect([closed, sessions.size, vi.getTimerCount()]).toEqual([["one", "two"], 0, 0]);
    });
  });
});
