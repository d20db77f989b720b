import { toErrorInfo } from "@cem/core";
import type { Agent } from "@cem/core";
import type { Logger } from "./logger.ts";

/** Whether code can run here. */
export interface Readiness {
  /** What keeps it from being ready, in words; `undefined` when it is. */
  fault(): Promise<string | undefined>;
  /** It is shutting down. */
  stop(): void;
}

/** A fault is looked at again so often, not at every question. */
const RETRY_INTERVAL_MS = 5_000;
const PROBE_TIMEOUT_MS = 20_000;

/** Ready is who has run a program, which also makes the first guest ready. Tried at once, and again after a fault. */
export function createReadiness(agent: Agent, logger: Logger): Readiness {
  let stopped = false;
  let probedAt = performance.now();
  const probe = async (): Promise<string | undefined> => {
    probedAt = performance.now();
    const fault = await runProbe(agent);
    if (fault === undefined) logger.info("ready");
    else if (!stopped) logger.error({ fault }, "not ready");
    return fault;
  };
  let last = probe();
  return {
    async fault() {
      if (stopped) return "shutting down";
      const fault = await last;
      if (fault === undefined || performance.now() - probedAt < RETRY_INTERVAL_MS) return fault;
      last = probe();
      return last;
    },
    stop: () => (stopped = true),
  };
}

async function runProbe(agent: Agent): Promise<string | undefined> {
  try {
    const { status, error } = await agent.executeCode("return 1;", {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    return status === "success" ? undefined : (error?.message ?? status);
  } catch (error) {
    return toErrorInfo(error).message;
  }
}
