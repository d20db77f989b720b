import { CemError, DEFAULT_RUN_LIMITS, ISOLATION_LEVELS, toErrorInfo } from "@cem/core";
import type {
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxProbe,
  SandboxProvider,
  SandboxSpec,
  ToolInvoker,
} from "@cem/core";
import type { PluginUse } from "./plugin-use.ts";

const START_TIMEOUT_MS = 120_000;
/** Beyond the run's own timeout, which the sandbox keeps itself. */
const RUN_GRACE_MS = 30_000;
const DISPOSE_TIMEOUT_MS = 30_000;
const STATUSES = new Set(["completed", "failed", "timed-out", "out-of-memory", "killed", "refused"]);

/** A sandbox provider that keeps to the port: what it gives is checked, and it has time limits. */
export function guardSandbox(provider: SandboxProvider, use: PluginUse): SandboxProvider {
  const part = `sandbox ${provider.name}`;
  return {
    specificationVersion: "v1",
    name: provider.name,
    async probe({ signal } = {}) {
      try {
        const probe = await use.call(part, { timeoutMs: START_TIMEOUT_MS, signal }, (own) =>
          provider.probe({ signal: own }),
        );
        if (isProbe(probe)) return probe;
        throw use.unusable(part, "probe() has to return { available, … }");
      } catch (error) {
        signal?.throwIfAborted();
        return { available: false, reason: toErrorInfo(error).message, hint: "" };
      }
    },
    async create(spec, { signal } = {}) {
      const sandbox = await use.call(part, { timeoutMs: START_TIMEOUT_MS, signal }, (own) =>
        provider.create(spec, { signal: own }).catch((error: unknown) => {
          // What it says in the port's own terms is no fault of the plugin.
          if (CemError.isInstance(error)) return error;
          throw error;
        }),
      );
      if (CemError.isInstance(sandbox)) throw sandbox;
      if (typeof sandbox?.run !== "function" || typeof sandbox.dispose !== "function") {
        throw use.unusable(part, "create() has to return a Sandbox");
      }
      await assertIsolation(sandbox, spec, part);
      return guardCreated(sandbox, part, use, spec);
    },
  };
}

function isProbe(probe: SandboxProbe | undefined): probe is SandboxProbe {
  return (
    probe?.available === false ||
    (probe?.available === true && ISOLATION_LEVELS.includes(probe.isolation?.level))
  );
}

/** @throws CemError `ISOLATION_TOO_WEAK` */
async function assertIsolation(sandbox: Sandbox, { minIsolation }: SandboxSpec, part: string): Promise<void> {
  const level = sandbox.isolation?.level;
  // The strongest comes first.
  const rank = ISOLATION_LEVELS.indexOf(level);
  if (rank !== -1 && (minIsolation === undefined || rank <= ISOLATION_LEVELS.indexOf(minIsolation))) return;
  await sandbox.dispose().catch(() => {});
  const message = `The ${part} gives the isolation level ${JSON.stringify(level)}; ${minIsolation ?? "permissions"} is required.`;
  throw new CemError("ISOLATION_TOO_WEAK", message, { details: { level, required: minIsolation } });
}

function guardCreated(sandbox: Sandbox, part: string, use: PluginUse, spec: SandboxSpec): Sandbox {
  const { isolation } = sandbox;
  const crashed = (error: unknown, started: number): RunOutcome => ({
    status: "killed",
    reason: "crashed",
    message: toErrorInfo(error).message,
    output: "",
    outputDroppedBytes: 0,
    toolCalls: [],
    toolResults: [],
    isolation,
    durationMs: performance.now() - started,
  });
  const stats = sandbox.stats?.bind(sandbox);
  const endSession = sandbox.endSession?.bind(sandbox);
  return {
    isolation,
    async run(request) {
      const started = performance.now();
      const { signal, limits } = request;
      const timeoutMs =
        (limits?.timeoutMs ?? spec.limits?.timeoutMs ?? DEFAULT_RUN_LIMITS.timeoutMs) + RUN_GRACE_MS;
      const clock = pausable(timeoutMs, request);
      try {
        const running = use.time(() => sandbox.run(clock.request));
        const outcome = await Promise.race([running, clock.over]);
        if (STATUSES.has(outcome?.status) && Array.isArray(outcome.toolCalls))
          return { ...outcome, isolation };
        throw use.unusable(part, "run() has to return a RunOutcome");
      } catch (error) {
        if (signal?.aborted !== true && !CemError.isInstance(error)) {
          use.note(`The ${part} of the plugin ${use.name} failed: ${toErrorInfo(error).message}`);
        }
        return crashed(error, started);
      } finally {
        clock.stop();
      }
    },
    dispose: () => use.call(part, { timeoutMs: DISPOSE_TIMEOUT_MS }, () => sandbox.dispose()).catch(() => {}),
    ...(stats !== undefined && { stats }),
    ...(endSession !== undefined && { endSession }),
  };
}

/** A clock that stands still while a tool on the host is at work, which has a time limit of its own. */
function pausable(
  timeoutMs: number,
  request: RunRequest,
): { request: RunRequest; over: Promise<never>; stop: () => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  let calls = 0;
  const start = (): void => {
    timer = setTimeout(() => reject(new Error(`it did not end within ${timeoutMs / 1_000} s`)), timeoutMs);
  };
  start();
  const { invoker } = request;
  const invoke: ToolInvoker["invoke"] = async (call, context) => {
    calls += 1;
    clearTimeout(timer);
    try {
      return await (invoker as ToolInvoker).invoke(call, context);
    } finally {
      calls -= 1;
      if (calls === 0) start();
    }
  };
  return {
    over: promise,
    stop: () => clearTimeout(timer),
    request: invoker === undefined ? request : { ...request, invoker: { ...invoker, invoke } },
  };
}
