import { FairGate, type Isolation, type SandboxProbe, type SandboxSpec } from "@cem/core";
import { checkHidden } from "../workspace/hidden-files.ts";
import { sandboxSettings, type GuestProviderSettings, type GuestSandboxProvider } from "./guest-provider.ts";
import { createGuestSandbox } from "./guest-sandbox.ts";
import { checkSpec } from "./guest-spec.ts";
import type { Guest } from "./guest.ts";

/** The differences between providers of machines and of pods. */
export interface MachineParts {
  name: string;
  /** The guests' place, for messages: `in a pod`. */
  where: string;
  /** Default of concurrent runs. */
  concurrentRuns: number;
  startTimeoutMs: number;
  healthTimeoutMs: number;
  /** Checks whether this host can run a guest. */
  probe(signal: AbortSignal | undefined): Promise<SandboxProbe>;
  /** Checks that guests of a sandbox can be started, and prepares their start. */
  prepare(
    spec: SandboxSpec,
    signal: AbortSignal | undefined,
  ): Promise<{ isolation: Isolation; startGuest(): Promise<Guest> }>;
}

/** Creates a provider whose guests have a machine or a pod of their own. */
export function createMachineProvider(
  settings: GuestProviderSettings,
  parts: MachineParts,
): GuestSandboxProvider {
  const { name, where, startTimeoutMs, healthTimeoutMs } = parts;
  const gate = new FairGate(settings.maxConcurrentRuns ?? parts.concurrentRuns);
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
      checkHidden(spec, where);
      const own = sandboxSettings(spec, settings);
      const prepared = await parts.prepare(spec, signal);
      signal?.throwIfAborted();
      const maxStandby = own.maxStandby ?? own.standby;
      return createGuestSandbox({ ...own, ...prepared, gate, maxStandby, startTimeoutMs, healthTimeoutMs });
    },
  };
}
