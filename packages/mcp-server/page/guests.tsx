import type { GuestCounts } from "../src/console/schemas.ts";
import { Activity } from "./activity.tsx";
import { Empty, formatCount, formatTime, Problem, useAnswer, useRound } from "./parts.tsx";

const REFRESH_MS = 2_000;
/** The charts are read anew with each so-many-th refresh. */
const ACTIVITY_ROUNDS = 5;
const NOW = {
  running: "Busy with a run",
  standby: "Warm, ready for a first run",
  kept: "Warm, kept for their session",
  waiting: "Runs that wait for one",
} as const;
const SINCE = {
  started: "Started",
  hits: "Runs that found a warm one",
  reused: "Runs that found their session's",
  misses: "Runs that waited for a start",
  discarded: "Ended after a run",
  lost: "Failed or stopped answering",
} as const;

export function Guests() {
  const round = useRound(REFRESH_MS);
  const { answer, problem } = useAnswer<GuestCounts>("guests", `${round}`);
  const counts = answer?.counts;
  return (
    <div class="page">
      <h1>Guests</h1>
      <p class="hint">The processes or virtual machines in which code runs.</p>
      <Problem text={problem} />
      <Activity version={`${Math.floor(round / ACTIVITY_ROUNDS)}`} />
      {counts === null && (
        <Empty title="No guests yet">
          <p>They come with the first run. Where workers execute runs, guests are theirs.</p>
        </Empty>
      )}
      {answer !== undefined && counts != null && (
        <>
          <h2>Now</h2>
          <dl class="grid">
            {Object.entries(NOW).map(([name, label]) => (
              <div key={name}>
                <dt>{label}</dt>
                <dd>{formatCount(counts[name as keyof typeof NOW])}</dd>
              </div>
            ))}
            {answer.isolation !== null && (
              <div>
                <dt>Isolation</dt>
                <dd>
                  {answer.isolation}
                  <small>{answer.mechanisms.join(", ")}</small>
                </dd>
              </div>
            )}
            {answer.memoryLimitMb !== null && (
              <div>
                <dt>Memory of each at most</dt>
                <dd>{formatCount(answer.memoryLimitMb)} MiB</dd>
              </div>
            )}
          </dl>
          <h2>Since {formatTime(answer.since)}</h2>
          <dl class="grid">
            {Object.entries(SINCE).map(([name, label]) => (
              <div key={name}>
                <dt>{label}</dt>
                <dd>{formatCount(counts[name as keyof typeof SINCE])}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </div>
  );
}
