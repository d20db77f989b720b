import { useEffect, useState } from "preact/hooks";
import type { RunSummary } from "../src/console/schemas.ts";
import { Problem, useAnswer } from "./parts.tsx";
import type { Feed } from "./use-runs.ts";

/** Requests wait so long for the next letter. */
const TYPING_MS = 250;
const STATUSES: RunSummary["status"][] = [
  "waiting",
  "running",
  "asking",
  "success",
  "error",
  "refused",
  "timeout",
  "cancelled",
];

/** The search among runs and its results: without a search, all runs of the feed. */
export interface Filter {
  status: string;
  text: string;
  setStatus: (status: string) => void;
  setText: (text: string) => void;
  isSet: boolean;
  runs: readonly RunSummary[];
  isLoaded: boolean;
  problem: string | undefined;
}

export function useFilter(feed: Feed): Filter {
  const [status, setStatus] = useState("");
  const [text, setText] = useState("");
  const isSet = status !== "" || text.trim() !== "";
  const wanted = new URLSearchParams({
    ...(status !== "" && { status }),
    ...(text.trim() !== "" && { text: text.trim() }),
  }).toString();
  const [query, setQuery] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setQuery(wanted), TYPING_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  // The search is repeated as runs begin and end.
  const version = feed.runs.map((run) => `${run.id} ${run.status}`).join();
  const { answer, problem } = useAnswer<{ runs: RunSummary[] }>(
    isSet && query !== "" ? `runs?${query}` : undefined,
    version,
  );
  return {
    status,
    text,
    setStatus,
    setText,
    isSet,
    runs: isSet ? (answer?.runs ?? []) : feed.runs,
    isLoaded: answer !== undefined,
    problem,
  };
}

export function FilterRuns({ filter }: { filter: Filter }) {
  const { status, text, setStatus, setText, isSet, runs, isLoaded, problem } = filter;
  return (
    <search class="filter">
      <label class="unseen" for="filter-text">
        Find runs by their task, code, tools or error
      </label>
      <input
        id="filter-text"
        type="search"
        placeholder="Find a run"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <label class="unseen" for="filter-status">
        Status of runs
      </label>
      <select id="filter-status" value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
        <option value="">Any status</option>
        {STATUSES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <Problem text={problem} />
      <p class={isSet ? "hint" : "unseen"} role="status">
        {isSet && isLoaded && describeFound(runs.length)}
      </p>
    </search>
  );
}

function describeFound(count: number): string {
  if (count === 0) return "No run is like that.";
  return count === 1 ? "1 run" : `${count} runs`;
}
