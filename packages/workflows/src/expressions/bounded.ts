import { createContext, Script } from "node:vm";
import type { Context } from "node:vm";
import { CemError } from "@cem/core";

/** The longest that the expressions of one step may take. Longer ones would hold up everything else on the host. */
const EXPRESSION_TIMEOUT_MS = 250;

const MICROSECONDS_PER_MS = 1_000;
/** How often work is begun again that was ended while the machine was busy with something else. */
const MAX_ATTEMPTS = 5;
const CALL = new Script("work()");
let realm: (Context & { work?: (() => unknown) | undefined }) | undefined;

/**
 * Does synchronous work without effects within a time, and ends it where it takes longer: expressions can't loop, and
 * nested macros and regular expressions can still take very long. The time is the processor's: what was ended by the clock
 * because the process had to wait is done again.
 *
 * @throws CemError `EXPRESSION_FAILED` when the time is over; else what the work throws.
 */
export function bounded<Result>(work: () => Result, timeoutMs: number = EXPRESSION_TIMEOUT_MS): Result {
  realm ??= createContext(Object.create(null) as object);
  for (let attempt = 1; ; attempt += 1) {
    realm.work = work;
    const before = process.cpuUsage();
    try {
      return CALL.runInContext(realm, { timeout: timeoutMs }) as Result;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      const { user, system } = process.cpuUsage(before);
      if (attempt < MAX_ATTEMPTS && user + system < (timeoutMs * MICROSECONDS_PER_MS) / 2) continue;
      throw new CemError(
        "EXPRESSION_FAILED",
        `Expressions took longer than ${timeoutMs} ms. Do this work in a code_execution step.`,
        { details: { timeoutMs } },
      );
    } finally {
      realm.work = undefined;
    }
  }
}
