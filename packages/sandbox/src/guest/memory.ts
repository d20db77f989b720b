import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A run's own limit of memory counts what earlier runs left, so that has to stay small. */
const MAX_HEAP_BYTES = 24 * 1024 * 1024;

// Visible for as long as it takes to take it: realms that are made later have no such function.
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
setFlagsFromString("--no-expose-gc");

/** Collects the garbage of ended runs, after a run where it is much. */
export function collectGarbage(isResting = false): void {
  if (isResting || getHeapStatistics().used_heap_size > MAX_HEAP_BYTES) collect();
}
