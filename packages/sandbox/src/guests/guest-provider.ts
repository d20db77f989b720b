import { CemError, type Mount, type SandboxProbe, type SandboxProvider, type SandboxSpec } from "@cem/core";
import type { GuestSandbox, GuestSandboxSettings } from "./guest-sandbox.ts";
import type { InitMessage } from "../protocol/host-messages.ts";
import { resolveLimits } from "../runs/run-limits.ts";
import { createWorkspaceQuota } from "../workspace/workspace-quota.ts";

/** A provider whose sandboxes report stats. */
export interface GuestSandboxProvider extends SandboxProvider {
  create(spec: SandboxSpec, options?: { signal?: AbortSignal | undefined }): Promise<GuestSandbox>;
}

/** Settings that providers share. */
export interface GuestProviderSettings extends Pick<
  GuestSandboxSettings,
  "standby" | "maxStandby" | "keptGuests" | "idleMs" | "reuse" | "queueTimeoutMs"
> {
  /** Concurrent runs over all sandboxes of this provider; further runs are queued. */
  maxConcurrentRuns?: number | undefined;
}

/** The provider-independent part of the `init` message: reuse, tools on the host, and settings for files. */
export type GuestInit = Pick<InitMessage, "reuse" | "hostTools" | "toolFolders" | "hidden">;

/** The part of a sandbox's settings that follows from its spec and the settings of its provider. */
export function sandboxSettings(
  spec: SandboxSpec,
  provider: GuestProviderSettings,
): Omit<GuestSandboxSettings, "isolation" | "startGuest" | "gate"> {
  const { standby, maxStandby, keptGuests, idleMs, reuse, queueTimeoutMs } = provider;
  const { defaultSession, owner, meter, nested } = spec;
  const limits = resolveLimits(spec.limits);
  const quota = createWorkspaceQuota(spec);
  const own = { defaultSession, owner, meter, nested };
  return { limits, standby, maxStandby, keptGuests, idleMs, reuse, queueTimeoutMs, quota, ...own };
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
