import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import {
  CemError,
  type Isolation,
  type RunLimits,
  type SandboxProbe,
  type SandboxProvider,
  type SandboxSpec,
} from "@cem/core";
import {
  createGuestSandbox,
  FairGate,
  type GuestSandbox,
  type SandboxReuse,
  resolveLimits,
} from "@cem/sandbox";
import { checkSpec, type ConnectedGuest, guestBootFile, preloadCompiler } from "@cem/sandbox/provider-kit";
import { findDeno } from "./deno-binary.ts";
import {
  bootGuest,
  detectIsolation,
  findCandidates,
  type DetectedIsolation,
  type IsolationChoice,
} from "./detect-isolation.ts";
import type { GuestPlan } from "./guest-plan.ts";
import { writeHiddenStandIn } from "./hidden-files.ts";
import { writeImportMap } from "./import-map.ts";
import { createPrivateDir, removePrivateDir } from "./private-dir.ts";
import type { IsolationBackend } from "./isolation-backend.ts";
import { requireIsolation, wayToMore } from "./require-isolation.ts";
import { startGuest } from "./start-guest.ts";
import { workspaceCheck } from "./workspace-check.ts";

/** How the Deno sandbox works. All of it may be left out. */
export interface DenoSandboxSettings {
  /** Absolute path of a Deno 2.9 binary. Default: the one that npm installed for this platform. */
  denoPath?: string | undefined;
  /** What holds the guest. Default `auto`: the strongest that works on this host. */
  isolation?: IsolationChoice | undefined;
  /** Runs at once over all sandboxes of this provider; more wait in turn. Default: twice the processors, at least 8. */
  maxConcurrentRuns?: number | undefined;
  /** Booted guests that wait in each sandbox. Default 2. */
  standby?: number | undefined;
  /** How many may wait after a time of many runs. Default: four times `standby`. */
  maxStandby?: number | undefined;
  /** Without a run for so long a sandbox lets its waiting guests go, in milliseconds. Default 300,000. */
  idleMs?: number | undefined;
  /**
   * `session`: runs that name the same session may share a guest, one after another. Default `none`, and so where
   * only Deno's permissions hold the guest.
   */
  reuse?: SandboxReuse | undefined;
  /** How long a run may wait for its turn, in milliseconds. Default: as long as it takes. */
  queueTimeoutMs?: number | undefined;
}

/** Makes sandboxes whose state can be looked at. */
export interface DenoSandboxProvider extends SandboxProvider {
  create(spec: SandboxSpec, options?: { signal?: AbortSignal | undefined }): Promise<GuestSandbox>;
}

const MIN_CONCURRENT_RUNS = 8;

/** What was found on this host, by Deno binary and choice; it holds for the process. */
const detected = new Map<string, Promise<DetectedIsolation>>();

/** A sandbox provider that runs code in prewarmed one-shot Deno processes. */
export function createDenoSandboxProvider(settings: DenoSandboxSettings = {}): DenoSandboxProvider {
  return new DenoProvider(settings);
}

class DenoProvider implements DenoSandboxProvider {
  readonly specificationVersion = "v1";
  readonly name = "deno";
  readonly #settings: DenoSandboxSettings;
  readonly #choice: IsolationChoice;
  readonly #gate: FairGate;

  constructor(settings: DenoSandboxSettings) {
    this.#settings = settings;
    this.#choice = settings.isolation ?? "auto";
    const concurrent = Math.max(MIN_CONCURRENT_RUNS, availableParallelism() * 2);
    this.#gate = new FairGate(settings.maxConcurrentRuns ?? concurrent);
  }

  async probe({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<SandboxProbe> {
    signal?.throwIfAborted();
    try {
      const { backend, version, notes } = await this.#detect();
      return { available: true, isolation: this.#isolation(backend), version, notes };
    } catch (error) {
      if (!CemError.isInstance(error)) throw error;
      return { available: false, reason: error.message, hint: wayToMore() };
    }
  }

  async create(
    spec: SandboxSpec,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<GuestSandbox> {
    signal?.throwIfAborted();
    checkSpec(spec);
    const limits = resolveLimits(spec.limits);
    const { backend, plan, firstGuest } = await this.#prepare(spec, limits);
    return createGuestSandbox({
      isolation: this.#isolation(backend),
      limits,
      gate: this.#gate,
      standby: this.#settings.standby,
      maxStandby: this.#settings.maxStandby,
      idleMs: this.#settings.idleMs,
      reuse: this.#isReused(backend) ? "session" : "none",
      defaultSession: spec.defaultSession,
      queueTimeoutMs: this.#settings.queueTimeoutMs,
      firstGuest,
      startGuest: () => startGuest(backend.plan(plan), this.#isReused(backend)),
      checkWorkspace: await workspaceCheck(backend, plan),
      cleanUp: async () => removePrivateDir(plan.privateDir),
    });
  }

  /** Chooses what holds the guest. The first time, the sandbox's own first guest is the proof that it works. */
  async #prepare(
    spec: SandboxSpec,
    limits: RunLimits,
  ): Promise<{ backend: IsolationBackend; plan: GuestPlan; firstGuest?: ConnectedGuest | undefined }> {
    const denoFile = findDeno(this.#settings.denoPath);
    const key = this.#key(denoFile);
    const { backends, notes } = findCandidates(this.#choice);
    const [strongest] = backends;
    if (strongest !== undefined && !detected.has(key)) {
      requireIsolation(strongest, spec.minIsolation, notes);
      const plan = makePlan(strongest, denoFile, spec, limits);
      try {
        const booting = bootGuest(strongest, plan, this.#isReused(strongest));
        const [firstGuest] = await Promise.all([booting, preloadCompiler()]);
        const { version } = firstGuest;
        if (!detected.has(key)) detected.set(key, Promise.resolve({ backend: strongest, notes, version }));
        return { backend: strongest, plan, firstGuest };
      } catch (error) {
        removePrivateDir(plan.privateDir);
        const found = await this.#detect();
        // The backend works here, so it is this sandbox's workspace, mounts or limits that don't.
        if (found.backend.name === strongest.name) throw error;
      }
    }
    const found = await this.#detect();
    requireIsolation(found.backend, spec.minIsolation, found.notes);
    return { backend: found.backend, plan: makePlan(found.backend, denoFile, spec, limits) };
  }

  #detect(): Promise<DetectedIsolation> {
    const denoFile = findDeno(this.#settings.denoPath);
    const key = this.#key(denoFile);
    const known = detected.get(key);
    if (known !== undefined) return known;
    const detecting = this.#tryAll(denoFile);
    detected.set(key, detecting);
    detecting.catch(() => detected.delete(key));
    return detecting;
  }

  async #tryAll(denoFile: string): Promise<DetectedIsolation> {
    const used: string[] = [];
    try {
      return await detectIsolation(findCandidates(this.#choice), (backend) => {
        const plan = makePlan(backend, denoFile, undefined, resolveLimits());
        used.push(plan.privateDir);
        return plan;
      });
    } finally {
      for (const path of used) removePrivateDir(path);
    }
  }

  /** Modules can't be loaded anew where stand-ins for Node's take the place of a view of the guest's own. */
  #isReused({ level }: IsolationBackend): boolean {
    return this.#settings.reuse === "session" && level !== "permissions";
  }

  #key(denoFile: string): string {
    return `${this.#choice}:${denoFile}`;
  }

  #isolation({ level, mechanisms }: IsolationBackend): Isolation {
    return { level, sandbox: this.name, mechanisms };
  }
}

/** The plan for a sandbox; without a spec, for a guest in an empty workspace. */
function makePlan(
  backend: IsolationBackend,
  denoFile: string,
  spec: SandboxSpec | undefined,
  { memoryMb, writeMb }: RunLimits,
): GuestPlan {
  const privateDir = createPrivateDir();
  const empty = join(privateDir, "empty");
  if (spec === undefined) mkdirSync(empty);
  const plan: GuestPlan = {
    denoFile,
    bootFile: guestBootFile,
    privateDir,
    workspaceDir: spec?.workspaceDir ?? empty,
    mounts: spec?.mounts ?? [],
    hidden: spec?.hidden ?? [],
    hostTools: spec?.hostTools ?? {},
    network: spec?.network ?? "none",
    memoryMb,
    writeMb,
  };
  writeHiddenStandIn(plan);
  writeImportMap(backend.level, plan);
  return plan;
}
