import type { Measured } from "./measured.ts";
import { plot } from "./plot.ts";
import { LOAD } from "./scenarios.ts";
import type { Results } from "./scenarios.ts";

const MS_PER_SECOND = 1_000;

/** The plots of the page, by their names. */
export function renderPlots(
  measured: Measured,
  { sizes, guests, floods, surges }: Results,
): Record<string, string> {
  const routed = sizes.filter(({ isRouted }) => isRouted);
  const ceiling = MS_PER_SECOND / measured.warm.redisCpuMs;
  const ends = [routed[0]?.workers ?? 1, routed.at(-1)?.workers ?? 1];
  const percentiles = ["p50", "p95", "p99"] as const;
  return {
    sizes: plot(
      "Runs a second: what Redis carries is the limit",
      { label: "workers", log: true },
      { label: "runs a second", log: true },
      [
        { name: "offered", points: routed.map(({ workers, offered }) => [workers, offered]), dashed: true },
        { name: "carried, runs sent to their guests", points: carried(routed) },
        { name: "carried, to any worker", points: carried(sizes.filter(({ isRouted }) => !isRouted)) },
        { name: "what one Redis can do", points: ends.map((workers) => [workers, ceiling]), dashed: true },
      ],
    ),
    guests: plot(
      "Runs that find their session's guest",
      { label: "guests that a worker keeps" },
      { label: "per cent" },
      [true, false].map((isRouted) => ({
        name: isRouted ? "sent to their guests" : "to any worker",
        points: guests
          .filter((one) => one.load === LOAD && one.isRouted === isRouted)
          .map(({ keptGuests, warmPercent }) => [keptGuests, warmPercent] as const),
      })),
    ),
    floods: plot(
      "Waits of light customers while another one floods",
      { label: "percentile", names: percentiles },
      { label: "milliseconds", log: true },
      floods.map(({ name, waits }) => ({
        name,
        points: percentiles.map((percentile, index) => [index, waits.light[percentile]] as const),
      })),
    ),
    surges: plot(
      "Workers while four times the load comes between 240 and 540 s",
      { label: "seconds" },
      { label: "workers" },
      surges.map(({ name, course }, index) => ({
        name,
        points: course.map(({ second, workers }) => [second, workers] as const),
        dashed: index === 0,
      })),
    ),
  };
}

function carried(sizes: Results["sizes"]): (readonly [number, number])[] {
  return sizes.map(({ workers, runsPerSecond }) => [workers, runsPerSecond] as const);
}
