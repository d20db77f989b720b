import { ISOLATION_LEVELS, CemError, type Isolation, type SandboxProbe, type SandboxProvider, type SandboxSpec } from "@cem/core";
import { createGuestSandbox, FairGate, guestBootFile, resolveLimits, type GuestSandbox } from "@cem/sandbox";
import { availableParallelism } from "node:os";
import { findDeno } from "./deno-binary.ts";
import { checkSpec, type GuestPlan } from "./guest-plan.ts";
import { createPrivateDir } from "./private-dir.ts";
import { chooseRealisation, type IsolationChoice } from "./choose-realisation.ts";
import { startGuest } from "./start-guest.ts";

/** How the Deno sandbox works. All of it may be left out. */
export interface DenoSandboxSettings {
  /** Absolute path of a Deno 2.9 binary. Default: the one that npm installed for this platform. */
  denoPath?: string;
  /** What holds the guest. Default `auto`: the strongest that this host gives. */
  isolation?: IsolationChoice;
  /** Runs at once over all sandboxes of this provider; more wait in turn. Default: twice the processors, at least 8. */
  maxConcurrentRuns?: number;
  /** Booted guests that wait in each sandbox. Default 2. */
  standby?: number;
  /** Without a run for so long a sandbox lets its waiting guests go, in milliseconds. Default 300,000. */
  idleMs?: number;
}

/** A sandbox provider that runs code in prewarmed one-shot Deno processes. */
export function createDenoSandboxProvider(settings: DenoSandboxSettings = {}): SandboxProvider & {
  create(spec: SandboxSpec, options?: { signal?: AbortSignal }): Promise<GuestSandbox>;
} {
  const gate = new FairGate(settings.maxConcurrentRuns ?? Math.max(8, availableParallelism() * 2));
  return {
    specificationVersion: "v1",
    name: "deno",
    async probe(): Promise<SandboxProbe> {
      throw new Error("later");
    },
    async create(spec) {
      checkSpec(spec);
      const denoFile = findDeno(settings.denoPath);
      const { realisation, notes } = await chooseRealisation(settings.isolation ?? "auto", denoFile);
      if (spec.minIsolation !== undefined && ISOLATION_LEVELS.indexOf(realisation.level) > ISOLATION_LEVELS.indexOf(spec.minIsolation)) {
        throw new CemError("ISOLATION_TOO_WEAK", notes.join(" "));
      }
      const limits = resolveLimits(spec.limits);
      const privateDir = createPrivateDir();
      const plan: GuestPlan = { denoFile, bootFile: guestBootFile, privateDir, workspaceDir: spec.workspaceDir, mounts: spec.mounts ?? [], network: spec.network ?? "none", memoryMb: limits.memoryMb, writeMb: limits.writeMb };
      const isolation: Isolation = { level: realisation.level, sandbox: "deno", mechanisms: realisation.mechanisms };
      return createGuestSandbox({ isolation, limits: spec.limits, gate, standby: settings.standby, idleMs: settings.idleMs, startGuest: () => startGuest(realisation.plan(plan)) });
    },
  };
}
