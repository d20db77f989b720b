import type { QueueFigures } from "../src/console/schemas.ts";
import { Chart, Charts, sum } from "./activity.tsx";
import { Empty, formatCount, formatMs, formatTime, Part, Problem, useAnswer, useRound } from "./parts.tsx";
import { Redacted } from "./redacted.tsx";

const REFRESH_MS = 5_000;
const MAX_SHOWN = 20;

export function Queue() {
  const { answer, problem } = useAnswer<QueueFigures>("queue", `${useRound(REFRESH_MS)}`);
  return (
    <div class="page">
      <h1>Queue</h1>
      <p class="hint">The runs that wait for workers, of all servers that have the same queue.</p>
      <Problem text={problem} />
      {answer?.absent !== undefined && (
        <Empty title="No queue here">
          <p>
            {answer.absent} With <code>queue.url</code>, runs wait in Redis until a machine with{" "}
            <code>cem worker</code> takes them.
          </p>
        </Empty>
      )}
      {answer?.now !== undefined && <Figures now={answer.now} answer={answer} />}
    </div>
  );
}

function Figures({ now, answer }: { now: NonNullable<QueueFigures["now"]>; answer: QueueFigures }) {
  const { minutes, runs } = answer;
  return (
    <>
      {now.workers === 0 && (
        <p class="problem" role="alert">
          No worker takes runs. Start one: <code>cem worker</code>
        </p>
      )}
      <Charts>
        <Chart
          title="Workers"
          figure={formatCount(now.workers)}
          minutes={minutes}
          lines={[({ workers }) => workers]}
        />
        <Chart
          title="Longest wait"
          figure={
            now.waiting === 0
              ? "nothing waits"
              : `${formatMs(now.oldestWaitMs)}, ${formatCount(now.waiting)} waiting`
          }
          minutes={minutes}
          bars={({ oldestWaitMs }) => oldestWaitMs}
        />
        <Chart
          title="Runs ended a minute"
          figure={`${formatCount(now.endedPerMinute)}, ${formatCount(now.running)} running now`}
          minutes={minutes}
          bars={({ ended }) => ended}
        />
        <Chart
          title="Runs that no worker could execute"
          figure={formatCount(sum(minutes, (minute) => minute.error))}
          minutes={minutes}
          marked={(minute) => minute.error}
        />
      </Charts>
      {runs.length > 0 && (
        <Part title={`Not executed (${formatCount(runs.length)})`}>
          <ul class="tools flat">
            {runs.slice(0, MAX_SHOWN).map(({ id, customer, reason, at }) => (
              <li key={id}>
                <code>{id}</code>
                <p>
                  <Redacted text={reason} />
                </p>
                <p class="hint">
                  {formatTime(at)}
                  {customer !== undefined && ` · ${customer}`} · <code>cem queue retry {id}</code>
                </p>
              </li>
            ))}
          </ul>
        </Part>
      )}
    </>
  );
}
