import { existsSync, mkdirSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Isolation, SandboxSpec } from "@cem/core";
import { createProcessFolder, removeProcessFolder } from "@cem/core/files";
import { resolveLimits, type GuestProviderSettings, type GuestSandboxProvider } from "@cem/sandbox";
import {
  connectGuest,
  createGuestProvider,
  guestBootFile,
  guestInit,
  preloadCompiler,
  probeHost,
} from "@cem/sandbox/provider-kit";
import { findDeno, startGuest } from "./start-guest.ts";
import { detectIsolation, findCandidates, isolationHint, requireIsolation } from "./detect-isolation.ts";
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
   * Concurrent runs over all sandboxes of this provider; further runs are queued. Up to half as many more may be under way
   * instead of runs that wait for a person, whose guests stay.
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
  const name = "deno";
  const { isolation: choice = "auto", denoPath } = settings;
  const keyOf = (denoFile: string): string => `${choice}:${denoFile}`;

  /** Chooses the backend. The first time, booting the sandbox's own first guest proves that it works. */
  async function prepare(spec: SandboxSpec) {
    const denoFile = findDeno(denoPath);
    const key = keyOf(denoFile);
    const { backends, notes } = findCandidates(choice);
    const [strongest] = backends;
    if (strongest !== undefined && !detected.has(key)) {
      requireIsolation(strongest, spec.minIsolation, notes);
      const plan = makePlan(denoFile, settings, spec);
      const prepared = await prepareWith(strongest, plan);
      try {
        const booting = connectGuest(prepared.startGuest());
        const [firstGuest] = await Promise.all([booting, preloadCompiler()]);
        const { version } = firstGuest;
        if (!detected.has(key)) detected.set(key, Promise.resolve({ backend: strongest, notes, version }));
        return { ...prepared, firstGuest };
      } catch (error) {
        removeProcessFolder(plan.privateDir);
        const found = await detect(denoFile);
        // The backend works here, so this sandbox's workspace, mounts or limits are the cause.
        if (found.backend.name === strongest.name) throw error;
      }
    }
    const found = await detect(denoFile);
    requireIsolation(found.backend, spec.minIsolation, found.notes);
    return prepareWith(found.backend, makePlan(denoFile, settings, spec));
  }

  async function prepareWith(backend: IsolationBackend, plan: GuestPlan) {
    return {
      isolation: isolationOf(backend),
      startGuest() {
        restorePrivateDir(plan);
        return startGuest(backend, plan);
      },
      checkWorkspace: await workspaceCheck(backend, plan),
      cleanUp: async () => removeProcessFolder(plan.privateDir),
    };
  }

  function detect(denoFile: string): Promise<DetectedIsolation> {
    const key = keyOf(denoFile);
    const known = detected.get(key);
    if (known !== undefined) return known;
    const detecting = tryAll(denoFile);
    detected.set(key, detecting);
    detecting.catch(() => detected.delete(key));
    return detecting;
  }

  async function tryAll(denoFile: string): Promise<DetectedIsolation> {
    const used: string[] = [];
    try {
      return await detectIsolation(findCandidates(choice), () => {
        const plan = makePlan(denoFile, { reuse: "none" });
        used.push(plan.privateDir);
        return plan;
      });
    } finally {
      for (const path of used) removeProcessFolder(path);
    }
  }

  const isolationOf = ({ level, mechanisms }: IsolationBackend): Isolation => ({
    level,
    sandbox: name,
    mechanisms: [...mechanisms, "realm"],
  });

  return createGuestProvider(settings, {
    name,
    concurrentRuns: Math.max(MIN_CONCURRENT_RUNS, availableParallelism() * 2),
    probe: () =>
      probeHost(async () => {
        const { backend, version, notes } = await detect(findDeno(denoPath));
        return { available: true, isolation: isolationOf(backend), version, notes };
      }, isolationHint()),
    prepare,
  });
}

/** Makes the folder of a sandbox's guests anew if something else removed it: without it, none would start any more. */
function restorePrivateDir({ privateDir }: GuestPlan): void {
  const root = join(privateDir, "root");
  if (existsSync(root)) return;
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const message = `The folder ${privateDir} was removed while it was in use, and is made anew. Leave it out of what cleans ${tmpdir()}.`;
  process.emitWarning(message, "CemWarning");
}

/** Plans a sandbox's guests; without a spec, a guest in an empty workspace. */
function makePlan(denoFile: string, settings: GuestProviderSettings, spec?: SandboxSpec): GuestPlan {
  // Readable only by this user, and removed when the process exits.
  const privateDir = createProcessFolder(tmpdir(), "cem-deno");
  mkdirSync(join(privateDir, "root"));
  const empty = join(privateDir, "empty");
  if (spec === undefined) mkdirSync(empty);
  const planned: SandboxSpec = spec ?? { workspaceDir: empty };
  const { workspaceDir, mounts = [], hidden = [], network = "none", limits } = planned;
  const { memoryMb, writeMb } = resolveLimits(limits);
  const init = guestInit(planned, settings);
  const bootFile = guestBootFile;
  return { denoFile, bootFile, privateDir, workspaceDir, mounts, hidden, init, network, memoryMb, writeMb };
}
