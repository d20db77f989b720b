import {
  CemError,
  FairGate,
  ISOLATION_LEVELS,
  type Isolation,
  type Mount,
  type SandboxProbe,
  type SandboxProvider,
  type SandboxSpec,
} from "@cem/core";
import { resolveLimits } from "../runs/run-limits.ts";
import { checkHidden } from "../workspace/hidden-files.ts";
import { createWorkspaceQuota } from "../workspace/workspace-quota.ts";
import type { GuestInit } from "./create-guest.ts";
import { createGuestSandbox, type GuestSandbox, type GuestSandboxSettings } from "./guest-sandbox.ts";
import { checkSpec } from "./guest-spec.ts";

/** A provider whose sandboxes report stats. */
export interface GuestSandboxProvider extends SandboxProvider {
  create(spec: SandboxSpec, options?: { signal?: AbortSignal | undefined }): Promise<GuestSandbox>;
}

/** Settings that providers share. */
export interface GuestProviderSettings extends Pick<
  GuestSandboxSettings,
  "standby" | "maxStandby" | "keptGuests" | "idleMs" | "reuse" | "queueTimeoutMs"
> {
  /**
   * Concurrent runs over all sandboxes of this provider; further runs are queued. Up to half as many more may be under way
   * instead of runs that wait for a person, whose guests stay.
   */
  maxConcurrentRuns?: number | undefined;
}

/** The differences between providers. */
export interface ProviderParts {
  name: string;
  /** Default of concurrent runs. */
  concurrentRuns: number;
  /** Where each guest has a machine or pod of its own, which is slow to start and shows hidden files. */
  machine?: {
    /** Its place, for messages: `in a pod`. */
    where: string;
    startTimeoutMs: number;
    healthTimeoutMs: number;
  };
  /** Checks whether this host can run a guest. */
  probe(signal: AbortSignal | undefined): Promise<SandboxProbe>;
  /** Checks that guests of a sandbox can be started, and prepares their start. */
  prepare(
    spec: SandboxSpec,
    signal: AbortSignal | undefined,
  ): Promise<
    Pick<GuestSandboxSettings, "isolation" | "startGuest" | "firstGuest" | "checkWorkspace" | "cleanUp">
  >;
}

/** Creates a provider of sandboxes with guest pools. */
export function createGuestProvider(
  settings: GuestProviderSettings,
  parts: ProviderParts,
): GuestSandboxProvider {
  const { name, machine } = parts;
  const concurrentRuns = settings.maxConcurrentRuns ?? parts.concurrentRuns;
  const gate = new FairGate(concurrentRuns, Math.floor(concurrentRuns / 2));
  return {
    specificationVersion: "v1",
    name,
    async probe({ signal } = {}) {
      signal?.throwIfAborted();
      return parts.probe(signal);
    },
    async create(spec, { signal } = {}) {
      signal?.throwIfAborted();
      checkSpec(spec);
      if (machine !== undefined) checkHidden(spec, machine.where);
      const own = sandboxSettings(spec, settings);
      const prepared = await parts.prepare(spec, signal);
      if (machine === undefined) return createGuestSandbox({ ...own, ...prepared, gate });
      signal?.throwIfAborted();
      const maxStandby = own.maxStandby ?? own.standby;
      return createGuestSandbox({ ...own, ...prepared, ...machine, gate, maxStandby });
    },
  };
}

/** The part of a sandbox's settings that follows from its spec and the settings of its provider. */
function sandboxSettings(spec: SandboxSpec, provider: GuestProviderSettings) {
  const { standby, maxStandby, keptGuests, idleMs, reuse, queueTimeoutMs } = provider;
  const { defaultSession, owner, meter, nested } = spec;
  const limits = resolveLimits(spec.limits);
  const quota = createWorkspaceQuota(spec);
  const own = { defaultSession, owner, meter, nested };
  return { limits, standby, maxStandby, keptGuests, idleMs, reuse, queueTimeoutMs, quota, ...own };
}

/**
 * Checks that guests reach the required isolation level.
 *
 * @param wanted - The weakest level allowed; `undefined` allows any.
 * @param given - For the message: what reaches the level; the reasons why no stronger one, and advice.
 * @throws CemError `ISOLATION_TOO_WEAK`.
 */
export function requireLevel(
  wanted: Isolation["level"] | undefined,
  { level, mechanisms }: Pick<Isolation, "level" | "mechanisms">,
  given: { reached: string; notes: readonly string[]; advice: string },
): void {
  if (wanted === undefined || ISOLATION_LEVELS.indexOf(level) <= ISOLATION_LEVELS.indexOf(wanted)) return;
  const { reached, notes, advice } = given;
  const message = `The required isolation is at least ${wanted}; ${reached} (${mechanisms.join(", ")}). ${advice}`;
  throw new CemError("ISOLATION_TOO_WEAK", message, { details: { wanted, level, mechanisms, notes } });
}

/** Derives the guest's `init` fields from a sandbox spec and the provider's settings. */
export function guestInit(spec: SandboxSpec, { reuse }: GuestProviderSettings): GuestInit {
  const { hostTools = {}, hidden = [], mounts = [] } = spec;
  return { reuse: reuse !== "none", hostTools, toolFolders: toolFoldersOf(mounts), hidden };
}

/** The guest folders that no program can change. */
export function toolFoldersOf(mounts: readonly Mount[]): string[] {
  return mounts.filter(({ readOnly }) => readOnly).map(({ guestPath }) => guestPath);
}

/**
 * Probes a host: a failure becomes the reason why the provider is not available.
 *
 * @param hint - Advice on how to make it available, if known.
 * @throws Any error that is not a CemError.
 */
export async function probeHost(attempt: () => Promise<SandboxProbe>, hint = ""): Promise<SandboxProbe> {
  try {
    return await attempt();
  } catch (error) {
    if (!CemError.isInstance(error)) throw error;
    return { available: false, reason: error.message, hint };
  }
}
