import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A run's own limit of memory counts what earlier runs left, so that has to stay small. */
const MAX_HEAP_BYTES = 24 * 1024 * 1024;
/** Time without a run after which a guest gives memory back, in milliseconds. */
const REST_MS = 2_000;

// Visible for as long as it takes to take it: realms that are made later have no such function.
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
setFlagsFromString("--no-expose-gc");

const startTimer = setTimeout;
const stopTimer = clearTimeout;
let resting: ReturnType<typeof setTimeout> | undefined;

/** Collects, after a run, the garbage of ended runs: at once where it is much, else when no run follows soon. */
export function collectGarbage(): void {
  if (getHeapStatistics().used_heap_size > MAX_HEAP_BYTES) collect();
  else resting = startTimer(collect, REST_MS);
}

/** Leaves the processor to the run that begins. */
export function postponeCollection(): void {
  stopTimer(resting);
}
