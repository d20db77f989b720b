import { useCallback, useEffect, useState } from "preact/hooks";
import type { RunSummary } from "../src/console/schemas.ts";
import { ApiError, follow, get } from "./api.ts";

const RETRY_MS = 2_000;

/** The runs as they change. */
export interface Feed {
  runs: readonly RunSummary[];
  isOpen: boolean;
  isLoaded: boolean;
  needsToken: boolean;
  /** Why the server refuses them. */
  problem: string | undefined;
  /** Begins anew, with another token or none. */
  restart: () => void;
}

export function useRuns(): Feed {
  const [runs, setRuns] = useState<readonly RunSummary[]>([]);
  const [isOpen, setOpen] = useState(false);
  const [isLoaded, setLoaded] = useState(false);
  const [needsToken, setNeedsToken] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [round, setRound] = useState(0);
  const restart = useCallback(() => {
    setNeedsToken(false);
    setRuns([]);
    setRound((before) => before + 1);
  }, []);

  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async (): Promise<void> => {
      const list = await get<{ runs: RunSummary[] }>("runs", ending.signal);
      setRuns(list.runs);
      setLoaded(true);
    };
    const connect = async (): Promise<void> => {
      try {
        await follow(
          () => {
            setOpen(true);
            setProblem(undefined);
            // Changes from before the stream was open.
            load().catch(() => {});
          },
          (run) => setRuns((before) => withRun(before, run)),
          ending.signal,
        );
      } catch (error) {
        if (error instanceof ApiError) {
          if (error.status === 401) return setNeedsToken(true);
          setProblem(error.message);
        }
      }
      setOpen(false);
      if (!ending.signal.aborted) timer = setTimeout(() => void connect(), RETRY_MS);
    };
    void connect();
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [round]);

  return { runs, isOpen, isLoaded, needsToken, problem, restart };
}

function withRun(runs: readonly RunSummary[], run: RunSummary): RunSummary[] {
  const at = runs.findIndex(({ id }) => id === run.id);
  return at < 0 ? [run, ...runs] : runs.with(at, run);
}
