import { CemError, DEFAULT_RUN_LIMITS, ISOLATION_LEVELS, toErrorInfo } from "@cem/core";
import type {
  McpTransportProvider,
  RunRequest,
  Sandbox,
  SandboxProvider,
  SandboxSpec,
  ToolInvoker,
  WorkflowStepKind,
} from "@cem/core";
import { createCustomDetector } from "@cem/pii";
import type { CustomDetector, DetectedText } from "@cem/pii";
import { reasonOf } from "./plugin-use.ts";
import type { PluginUse } from "./plugin-use.ts";

/** For all texts of one result or event together. */
const DETECT_TIMEOUT_MS = 1_000;
const PLAN_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 60_000;
const START_TIMEOUT_MS = 120_000;
/** Beyond the run's own timeout, which the sandbox keeps itself. */
const RUN_GRACE_MS = 30_000;
const STATUSES = new Set(["completed", "failed", "timed-out", "out-of-memory", "killed", "refused"]);

/** How one method of a part is called. */
interface MethodRule {
  timeoutMs: number;
  /** The expected result in words, and whether a result is one. Absent: any result is taken. */
  result?: { is: (value: never) => boolean; words: string } | undefined;
}

type Method = (...args: unknown[]) => unknown;

/**
 * Wraps a part of a plugin. Each method with a rule gets copies of its arguments and a signal that aborts at the time limit or
 * with the caller's; a fault is noted under the plugin's name and thrown as `PLUGIN_FAILED` or `PLUGIN_TIMEOUT`. What the part
 * throws in the port's own terms, a CemError, is passed on. All else of the part stays as it is.
 */
export function guardPart<Part extends object>(
  name: string,
  part: Part,
  use: PluginUse,
  rules: { [Key in keyof Part]?: MethodRule },
): Part {
  const guarded = { ...part } as Record<string, unknown>;
  for (const [key, rule] of Object.entries(rules) as [string, MethodRule][]) {
    const method = (part as Record<string, unknown>)[key] as Method | undefined;
    if (typeof method !== "function") continue;
    guarded[key] = async (...args: unknown[]) => {
      const signal = args.map(signalIn).find((one) => one !== undefined);
      const answer = await use.call(name, { timeoutMs: rule.timeoutMs, signal }, async (own) => {
        try {
          return await method.apply(
            part,
            args.map((arg) => copyOf(arg, own)),
          );
        } catch (error) {
          if (CemError.isInstance(error)) return error;
          throw error;
        }
      });
      if (CemError.isInstance(answer)) throw answer;
      const { result } = rule;
      if (result !== undefined && !result.is(answer as never))
        throw use.unusable(name, `${key}() has to return ${result.words}`);
      return answer;
    };
  }
  return guarded as Part;
}

function signalIn(arg: unknown): AbortSignal | undefined {
  const { signal } = (arg ?? {}) as { signal?: unknown };
  return signal instanceof AbortSignal ? signal : undefined;
}

/** A copy of a request, so that changes to its lists reach nobody else. */
function copyOf(arg: unknown, signal: AbortSignal): unknown {
  if (Array.isArray(arg)) return [...(arg as unknown[])];
  if (typeof arg !== "object" || arg === null || !("signal" in arg || "tools" in arg)) return arg;
  const lists = Object.entries(arg).flatMap(([key, value]) =>
    Array.isArray(value) ? [[key, [...value]]] : [],
  );
  return { ...arg, ...Object.fromEntries(lists), signal };
}

/** A transport provider whose connections are such. */
export function guardTransport(provider: McpTransportProvider, use: PluginUse): McpTransportProvider {
  const isTransport = (made: Record<string, unknown> | undefined): boolean =>
    ["start", "send", "close"].every((name) => typeof made?.[name] === "function");
  return guardPart(`transport ${provider.scheme}`, provider, use, {
    connect: { timeoutMs: CONNECT_TIMEOUT_MS, result: { is: isTransport, words: "{ start, send, close }" } },
  });
}

/** A type of step that is timed. A workflow ends its steps itself when their time is over. */
export function guardStep(step: WorkflowStepKind, use: PluginUse): WorkflowStepKind {
  const { specificationVersion, name, configSchema, isIdempotent } = step;
  const run: WorkflowStepKind["run"] = (config, context) => use.time(async () => step.run(config, context));
  const plan = step.plan?.bind(step);
  return {
    specificationVersion,
    name,
    configSchema,
    isIdempotent,
    run,
    ...(plan && { plan: (config) => use.callNow(`step ${name}`, PLAN_TIMEOUT_MS, () => plan(config)) }),
  };
}

/**
 * A detector that has a time limit for all texts of a result together, and is used no more when it exceeds that twice in a
 * row; where it throws it finds nothing.
 */
export function guardDetector(custom: CustomDetector, use: PluginUse): CustomDetector {
  const { type } = custom;
  const part = `detector ${type}`;
  const detector = createCustomDetector(custom);
  const findIn = ({ text, key }: DetectedText): { start: number; end: number }[] => {
    try {
      const found = detector.find(text, key);
      const places = found.filter(
        ({ start, end }) => Number.isInteger(start) && 0 <= start && start < end && end <= text.length,
      );
      if (places.length < found.length) use.unusable(part, "it finds places that are not there");
      return places;
    } catch (error) {
      const failed = use.unusable(part, `it threw ${reasonOf(error)}`);
      if (use.isRequired) throw failed;
      return [];
    }
  };
  return {
    type,
    findAll(texts) {
      for (let attempt = 0; !use.isOff(part); attempt += 1) {
        try {
          return use.callNow(part, DETECT_TIMEOUT_MS, () => texts.map(findIn));
        } catch (error) {
          // A busy machine may have been the cause: values must not slip through for that.
          if (attempt > 0 && use.isRequired) throw error;
        }
      }
      if (use.isRequired) use.callNow(part, DETECT_TIMEOUT_MS, () => {});
      return texts.map(() => []);
    },
  };
}

/** A sandbox provider that keeps to the port: its probe, its isolation and the outcomes of its runs are checked. */
export function guardSandbox(provider: SandboxProvider, use: PluginUse): SandboxProvider {
  const part = `sandbox ${provider.name}`;
  const isProbe = (probe: { available?: unknown; isolation?: { level: never } } | undefined): boolean =>
    probe?.available === false ||
    (probe?.available === true && ISOLATION_LEVELS.includes(probe.isolation?.level as never));
  const isSandbox = (made: Partial<Sandbox> | undefined): boolean =>
    typeof made?.run === "function" && typeof made.dispose === "function";
  const guarded = guardPart(part, provider, use, {
    probe: { timeoutMs: START_TIMEOUT_MS, result: { is: isProbe, words: "{ available, … }" } },
    create: { timeoutMs: START_TIMEOUT_MS, result: { is: isSandbox, words: "a Sandbox" } },
  });
  return {
    specificationVersion: "v1",
    name: provider.name,
    async probe(options = {}) {
      try {
        return await guarded.probe({ signal: undefined, ...options });
      } catch (error) {
        options.signal?.throwIfAborted();
        return { available: false, reason: toErrorInfo(error).message, hint: "" };
      }
    },
    async create(spec, options = {}) {
      const sandbox = await guarded.create(spec, { signal: undefined, ...options });
      await assertIsolation(sandbox, spec, part);
      return guardRuns(sandbox, { part, use, spec });
    },
  };
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

/** Ends runs that do not end by themselves, and reports those of a wrong shape as crashed. */
function guardRuns(
  sandbox: Sandbox,
  { part, use, spec }: { part: string; use: PluginUse; spec: SandboxSpec },
): Sandbox {
  const { isolation } = sandbox;
  return {
    isolation,
    async run(request) {
      const started = performance.now();
      const limitMs = request.limits?.timeoutMs ?? spec.limits?.timeoutMs ?? DEFAULT_RUN_LIMITS.timeoutMs;
      const clock = pausableClock(limitMs + RUN_GRACE_MS, request);
      try {
        const outcome = await Promise.race([use.time(async () => sandbox.run(clock.request)), clock.over]);
        if (STATUSES.has(outcome?.status) && Array.isArray(outcome.toolCalls))
          return { ...outcome, isolation };
        throw use.unusable(part, "run() has to return a RunOutcome");
      } catch (error) {
        const { message } = toErrorInfo(error);
        if (request.signal?.aborted !== true && !CemError.isInstance(error))
          use.note(`The ${part} of the plugin ${use.name} failed: ${message}`);
        const durationMs = performance.now() - started;
        const nothing = { output: "", outputDroppedBytes: 0, toolCalls: [], toolResults: [] };
        return { status: "killed", reason: "crashed", message, ...nothing, isolation, durationMs };
      } finally {
        clock.stop();
      }
    },
    dispose: () => use.call(part, { timeoutMs: RUN_GRACE_MS }, () => sandbox.dispose()).catch(() => {}),
    ...(sandbox.stats && { stats: sandbox.stats.bind(sandbox) }),
    ...(sandbox.endSession && { endSession: sandbox.endSession.bind(sandbox) }),
  };
}

/** A clock that stands still while a tool on the host is at work, which has a time limit of its own. */
function pausableClock(
  timeoutMs: number,
  request: RunRequest,
): { request: RunRequest; over: Promise<never>; stop: () => void } {
  const { promise: over, reject } = Promise.withResolvers<never>();
  over.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  let calls = 0;
  const start = (): void => {
    timer = setTimeout(() => reject(new Error(`it did not end within ${timeoutMs / 1_000} s`)), timeoutMs);
  };
  start();
  const stop = (): void => clearTimeout(timer);
  const { invoker } = request;
  if (invoker === undefined) return { request, over, stop };
  const invoke: ToolInvoker["invoke"] = async (call, context) => {
    calls += 1;
    stop();
    try {
      return await invoker.invoke(call, context);
    } finally {
      calls -= 1;
      if (calls === 0) start();
    }
  };
  return { request: { ...request, invoker: { ...invoker, invoke } }, over, stop };
}
