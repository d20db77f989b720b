import { KEEP_RESULTS_MS } from "./connection.ts";

/** Shorter than results are kept: afterwards a run with the same id may be put again. */
const REMEMBER_MS = KEEP_RESULTS_MS / 2;
const MAX_REMEMBERED = 10_000;

export const SET_BACK =
  "Redis was set back to before what it had confirmed, such as in a failover to a replica that was behind.";

/** Facts about runs that outlast what the server knows, which may be set back. */
export type Remembered<Fact> = ReturnType<typeof createRemembered<Fact>>;

/** Remembers facts about the newest runs for a while. */
export function createRemembered<Fact>() {
  const facts = new Map<string, { fact: Fact; at: number }>();
  const isOld = ({ at }: { at: number }): boolean => performance.now() - at > REMEMBER_MS;
  return {
    set(id: string, fact: Fact): void {
      facts.delete(id);
      facts.set(id, { fact, at: performance.now() });
      for (const [oldest, entry] of facts) {
        if (facts.size <= MAX_REMEMBERED && !isOld(entry)) break;
        facts.delete(oldest);
      }
    },
    get(id: string): Fact | undefined {
      const found = facts.get(id);
      return found === undefined || isOld(found) ? undefined : found.fact;
    },
    ids: (): string[] => [...facts].flatMap(([id, entry]) => (isOld(entry) ? [] : [id])),
  };
}
