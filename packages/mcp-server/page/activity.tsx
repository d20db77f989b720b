import type { ComponentChildren } from "preact";
import type { ActivityAnswer } from "../src/console/schemas.ts";
import { formatCount, formatMs, Problem, useAnswer } from "./parts.tsx";

const WIDTH = 240;
const HEIGHT = 64;

type Figure<Minute> = (minute: Minute) => number | undefined;

/**
 * Small charts of the last hour.
 *
 * @param version - Changes when they have to be read anew.
 */
export function Activity({ version }: { version: string }) {
  const { answer, problem } = useAnswer<ActivityAnswer>("activity", version);
  if (answer === undefined) return <Problem text={problem} />;
  const { minutes } = answer;
  const runs = sum(minutes, ({ runs }) => runs);
  const unsuccessful = sum(minutes, ({ unsuccessful }) => unsuccessful);
  const latest = minutes.findLast(({ runs }) => runs > 0);
  return (
    <Charts>
      <Chart
        title="Runs a minute"
        figure={`${formatCount(runs)} ${runs === 1 ? "run" : "runs"}${unsuccessful === 0 ? "" : `, ${formatCount(unsuccessful)} not successful`}`}
        minutes={minutes}
        bars={({ runs }) => runs}
        marked={({ unsuccessful }) => unsuccessful}
      />
      <Chart
        title="Duration, p50 and p95"
        figure={latest === undefined ? "—" : `${formatMs(latest.p50Ms)}, ${formatMs(latest.p95Ms)}`}
        minutes={minutes}
        lines={[({ p50Ms }) => p50Ms, ({ p95Ms }) => p95Ms]}
      />
      <Chart
        title="Tokens kept out of contexts"
        figure={formatCount(sum(minutes, ({ tokensSaved }) => tokensSaved))}
        minutes={minutes}
        bars={({ tokensSaved }) => tokensSaved}
      />
      <Chart
        title="Memory of the server"
        figure={latest?.memoryMb === undefined ? "—" : `${formatCount(latest.memoryMb)} MiB`}
        minutes={minutes}
        lines={[({ memoryMb }) => memoryMb]}
      />
    </Charts>
  );
}

export function Charts({ children }: { children: ComponentChildren }) {
  return (
    <section aria-labelledby="charts-title" class="part">
      <h2 id="charts-title" class="part-title">
        The last hour
      </h2>
      <div class="charts">{children}</div>
    </section>
  );
}

/** One figure over time: bars of each minute, a part of which may be marked, or lines. */
export function Chart<Minute extends { at: string }>({
  title,
  figure,
  minutes,
  bars = none,
  marked = none,
  lines = [],
}: {
  title: string;
  /** The figure in words. */
  figure: string;
  minutes: readonly Minute[];
  bars?: Figure<Minute>;
  marked?: Figure<Minute>;
  lines?: readonly Figure<Minute>[];
}) {
  const most = Math.max(
    1e-9,
    ...minutes.flatMap((minute) => [bars, marked, ...lines].map((of) => of(minute) ?? 0)),
  );
  const step = WIDTH / minutes.length;
  const heightOf = (value: number): number => (value / most) * (HEIGHT - 4);
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <strong>{figure}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}: ${figure}`}>
        <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {[bars, marked].map((of, kind) =>
          minutes.map((minute, at) => {
            const height = heightOf(of(minute) ?? 0);
            if (height === 0) return null;
            return (
              <rect
                key={`${kind} ${minute.at}`}
                class={kind === 0 ? "" : "bad"}
                x={at * step + 0.5}
                y={HEIGHT - height}
                width={step - 1}
                height={height}
              />
            );
          }),
        )}
        {lines.map((of, at) => (
          <polyline key={at} class={`line-${at}`} points={pointsOf(minutes, of, step, heightOf)} />
        ))}
      </svg>
    </figure>
  );
}

/** A line through the minutes that have a figure. A single one is as wide as its minute. */
function pointsOf<Minute>(
  minutes: readonly Minute[],
  of: Figure<Minute>,
  step: number,
  heightOf: (value: number) => number,
): string {
  const points = minutes.flatMap((minute, at) => {
    const value = of(minute);
    return value === undefined ? [] : [{ x: (at + 0.5) * step, y: HEIGHT - heightOf(value) }];
  });
  const [only] = points;
  const drawn = points.length === 1 && only !== undefined ? [{ ...only, x: only.x - step }, only] : points;
  return drawn.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
}

function none(): undefined {
  return undefined;
}

export function sum<Minute>(minutes: readonly Minute[], of: (minute: Minute) => number): number {
  return minutes.reduce((total, minute) => total + of(minute), 0);
}
