import { mkdirSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Isolation, RunLimits, SandboxProbe, SandboxSpec } from "@cem/core";
import { createProcessFolder, removeProcessFolder } from "@cem/core/files";
import { createGuestSandbox, FairGate, resolveLimits } from "@cem/sandbox";
import type { GuestProviderSettings, GuestSandbox, GuestSandboxProvider } from "@cem/sandbox";
import {
  checkSpec,
  guestBootFile,
  preloadCompiler,
  probeHost,
  sandboxSettings,
} from "@cem/sandbox/provider-kit";
import type { ConnectedGuest } from "@cem/sandbox/provider-kit";
import { findDeno, startGuest } from "./start-guest.ts";
import {
  bootGuest,
  detectIsolation,
  findCandidates,
  isolationHint,
  requireIsolation,
} from "./detect-isolation.ts";
import type { DetectedIsolation, IsolationChoice } from "./detect-isolation.ts";
import type { GuestPlan, IsolationBackend } from "./guest-plan.ts";
import { workspaceCheck } from "./workspace-links.ts";

/** Settings of {@link createDenoSandboxProvider}. All are optional. */
export interface DenoSandboxSettings extends GuestProviderSettings {
  /**
   * Absolute path of a Deno 2.9 binary.
   *
   * @defaultValue The binary that npm installed for this platform.
   */
  denoPath?: string | undefined;
  /**
   * The isolation backend.
   *
   * @defaultValue `auto`: the strongest that works on this host.
   */
  isolation?: IsolationChoice | undefined;
  /**
   * Concurrent runs over all sandboxes of this provider; further runs are queued.
   *
   * @defaultValue Twice the number of processors, at least 8.
   */
  maxConcurrentRuns?: number | undefined;
}

const MIN_CONCURRENT_RUNS = 8;

/** Detection results by choice and Deno binary, cached for the life of the process. */
const detected = new Map<string, Promise<DetectedIsolation>>();

/** Creates a sandbox provider that runs code in prewarmed Deno processes. */
export function createDenoSandboxProvider(settings: DenoSandboxSettings = {}): GuestSandboxProvider {
  return new DenoProvider(settings);
}

class DenoProvider implements GuestSandboxProvider {
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
    return probeHost(async () => {
      const { backend, version, notes } = await this.#detect();
      return { available: true, isolation: this.#isolation(backend), version, notes };
    }, isolationHint());
  }

  async create(
    spec: SandboxSpec,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<GuestSandbox> {
    signal?.throwIfAborted();
    checkSpec(spec);
    const { backend, plan, firstGuest } = await this.#prepare(spec, resolveLimits(spec.limits));
    return createGuestSandbox({
      ...sandboxSettings(spec, this.#settings),
      isolation: this.#isolation(backend),
      gate: this.#gate,
      firstGuest,
      startGuest: () => startGuest(backend, plan, this.#isReused),
      checkWorkspace: await workspaceCheck(backend, plan),
      cleanUp: async () => removeProcessFolder(plan.privateDir),
    });
  }

  /** Chooses the backend. The first time, the sandbox's own first guest is booted as the proof that it works. */
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
      const plan = makePlan(denoFile, spec, limits);
      try {
        const booting = bootGuest(strongest, plan, this.#isReused);
        const [firstGuest] = await Promise.all([booting, preloadCompiler()]);
        const { version } = firstGuest;
        if (!detected.has(key)) detected.set(key, Promise.resolve({ backend: strongest, notes, version }));
        return { backend: strongest, plan, firstGuest };
      } catch (error) {
        removeProcessFolder(plan.privateDir);
        const found = await this.#detect();
        // The backend works here, so this sandbox's workspace, mounts or limits are the cause.
        if (found.backend.name === strongest.name) throw error;
      }
    }
    const found = await this.#detect();
    requireIsolation(found.backend, spec.minIsolation, found.notes);
    return { backend: found.backend, plan: makePlan(denoFile, spec, limits) };
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
      return await detectIsolation(findCandidates(this.#choice), () => {
        const plan = makePlan(denoFile, undefined, resolveLimits());
        used.push(plan.privateDir);
        return plan;
      });
    } finally {
      for (const path of used) removeProcessFolder(path);
    }
  }

  get #isReused(): boolean {
    return this.#settings.reuse !== "none";
  }

  #key(denoFile: string): string {
    return `${this.#choice}:${denoFile}`;
  }

  #isolation({ level, mechanisms }: IsolationBackend): Isolation {
    return { level, sandbox: this.name, mechanisms: [...mechanisms, "realm"] };
  }
}

/** Plans a sandbox's guests; without a spec, a guest in an empty workspace. */
function makePlan(
  denoFile: string,
  spec: SandboxSpec | undefined,
  { memoryMb, writeMb }: RunLimits,
): GuestPlan {
  const privateDir = createPrivateDir();
  const empty = join(privateDir, "empty");
  if (spec === undefined) mkdirSync(empty);
  return {
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
}

/** Creates a folder that only this user can read. It is removed when the process exits. */
function createPrivateDir(): string {
  const path = createProcessFolder(tmpdir(), "cem-deno");
  mkdirSync(join(path, "root"));
  return path;
}
