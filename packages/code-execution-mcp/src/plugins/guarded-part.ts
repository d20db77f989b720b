import { CemError, ISOLATION_LEVELS, toErrorInfo } from "@cem/core";
import type { Sandbox, SandboxProvider, SandboxSpec } from "@cem/core";
import { createCustomDetector, type CustomDetector } from "@cem/pii";
import { reasonOf, type PluginUse } from "./plugin-use.ts";

const STATUSES = new Set(["completed", "failed", "timed-out", "out-of-memory", "killed", "refused"]);

/** The expected result of a method in words, and a test for it. */
interface Expected {
  is: (value: never) => boolean;
  words: string;
}

type Method = (...args: unknown[]) => unknown;

/**
 * Wraps methods of a plugin's part. An exception is noted under the plugin's name and rethrown as `PLUGIN_FAILED`, unless
 * the caller has aborted. A CemError is passed on unchanged. All other members stay as they are.
 *
 * @param expected - The result of each method to wrap; `undefined` accepts any result.
 */
export function guardPart<Part extends object>(
  name: string,
  part: Part,
  use: PluginUse,
  expected: { [Key in keyof Part]?: Expected | undefined },
): Part {
  const guarded = { ...part } as Record<string, unknown>;
  for (const [key, result] of Object.entries<Expected | undefined>(expected)) {
    const method = (part as Record<string, unknown>)[key] as Method | undefined;
    if (typeof method !== "function") continue;
    guarded[key] = async (...args: unknown[]) => {
      let answer: unknown;
      try {
        answer = await method.apply(part, args);
      } catch (error) {
        if (CemError.isInstance(error) || args.some(isAborted)) throw error;
        throw use.failed(name, error);
      }
      if (result === undefined || result.is(answer as never)) return answer;
      throw use.unusable(name, `${key}() has to return ${result.words}`);
    };
  }
  return guarded as Part;
}

function isAborted(arg: unknown): boolean {
  const { signal } = (arg ?? {}) as { signal?: unknown };
  return signal instanceof AbortSignal && signal.aborted;
}

/** A detector that finds nothing if it throws, unless its plugin is required. */
export function guardDetector(custom: CustomDetector, use: PluginUse): CustomDetector {
  const { type } = custom;
  const part = `detector ${type}`;
  const detector = createCustomDetector(custom);
  return {
    type,
    find(text, key) {
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
    },
  };
}

/** A sandbox provider whose isolation and outcomes of runs are checked. A run that throws fails as `PLUGIN_FAILED`. */
export function guardSandbox(provider: SandboxProvider, use: PluginUse): SandboxProvider {
  const part = `sandbox ${provider.name}`;
  const isSandbox = (made: Partial<Sandbox> | undefined): boolean =>
    typeof made?.run === "function" && typeof made.dispose === "function";
  const isOutcome = (outcome: { status?: string } | undefined): boolean =>
    STATUSES.has(outcome?.status ?? "");
  const isProbe = (probe: { available?: unknown } | undefined): boolean =>
    typeof probe?.available === "boolean";
  const guarded = guardPart(part, provider, use, {
    probe: { is: isProbe, words: "{ available, … }" },
    create: { is: isSandbox, words: "a Sandbox" },
  });
  return {
    specificationVersion: "v1",
    name: provider.name,
    async probe(options) {
      try {
        return await guarded.probe(options);
      } catch (error) {
        options?.signal?.throwIfAborted();
        return { available: false, reason: toErrorInfo(error).message, hint: "" };
      }
    },
    async create(spec, options) {
      const sandbox = await guarded.create(spec, options);
      await assertIsolation(sandbox, spec, part);
      const watched = guardPart(part, sandbox, use, { run: { is: isOutcome, words: "a RunOutcome" } });
      return {
        isolation: sandbox.isolation,
        run: (request) => watched.run(request),
        dispose: () => sandbox.dispose(),
        ...(sandbox.stats && { stats: sandbox.stats.bind(sandbox) }),
        ...(sandbox.endSession && { endSession: sandbox.endSession.bind(sandbox) }),
      };
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
