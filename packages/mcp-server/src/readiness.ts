import { toErrorInfo } from "@cem/core";
import type { Agent } from "@cem/core";
import type { Logger } from "./logger.ts";

/** Whether runs can be carried out, as {@link Readiness} says it. */
export type Probe = () => Promise<ReadinessReport>;

/** What `/readyz` says. */
export interface ReadinessReport {
  /** Why the server is not ready. Absent when it is. */
  fault?: string | undefined;
  /** What a server that is ready still lacks. */
  lacks?: string | undefined;
}

/** Whether the server can run code. */
export interface Readiness {
  report(): Promise<ReadinessReport>;
  /** Reports from now on that the server is shutting down. */
  stop(): void;
}

/** The minimum interval between two probes after a failure. */
const RETRY_INTERVAL_MS = 5_000;
const PROBE_TIMEOUT_MS = 20_000;

/**
 * Probes by running a program, which also warms up the first guest: at once, and again after a failure.
 *
 * @param refusal - Why a new client would be refused now, or `undefined`.
 */
export function createReadiness(
  { agent, probe: given }: { agent: Agent; probe?: Probe | undefined },
  logger: Logger,
  refusal: () => string | undefined,
): Readiness {
  let stopped = false;
  let probedAt = performance.now();
  const probe = async (): Promise<string | undefined> => {
    probedAt = performance.now();
    const fault = await runProbe(agent);
    if (fault === undefined) logger.info("ready");
    else if (!stopped) logger.error({ fault }, "not ready");
    return fault;
  };
  let last = given === undefined ? probe() : Promise.resolve(undefined);
  return {
    async report() {
      if (stopped) return { fault: "shutting down" };
      const refused = refusal();
      if (refused !== undefined) return { fault: refused };
      if (given !== undefined) return given();
      const fault = await last;
      if (fault === undefined || performance.now() - probedAt < RETRY_INTERVAL_MS) return { fault };
      last = probe();
      return { fault: await last };
    },
    stop: () => (stopped = true),
  };
}

async function runProbe(agent: Agent): Promise<string | undefined> {
  try {
    const { status, error } = await agent.executeCode("return 1;", {
      record: false,
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    return status === "success" ? undefined : (error?.message ?? status);
  } catch (error) {
    return toErrorInfo(error).message;
  }
}
