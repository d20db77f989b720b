import {
  CemError,
  type Isolation,
  type SandboxProbe,
  type SandboxProvider,
  type SandboxSpec,
} from "@cem/core";
import {
  createGuestSandbox,
  FairGate,
  resolveLimits,
  type Guest,
  type GuestSandbox,
  type SandboxReuse,
} from "@cem/sandbox";
import {
  checkSpec,
  connectGuest,
  GUEST_RUNNER,
  GUEST_WORKSPACE,
  guestEnvironment,
  namespacedDenoArguments,
} from "@cem/sandbox/provider-kit";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createEmbeddedDriver } from "./embedded-driver.ts";
import { writeGuestImports, type GuestImports } from "./guest-imports.ts";
import {
  findGuestRuntime,
  guestBootPath,
  GUEST_DENO,
  GUEST_IMPORT_MAP,
  stageRuntime,
  type GuestRuntime,
} from "./guest-runtime.ts";
import { findObstacle, readSigns } from "./host-virtualization.ts";
import type { PreparedImage } from "./image.ts";
import { newMachineName, ownLabels, sweepLeftovers } from "./leftovers.ts";
import { defaultHome, installedVersion } from "./load-sdk.ts";
import { MACHINE_OVERHEAD_MB, startMicrovmGuest } from "./microvm-guest.ts";
import type { MicrovmDriver } from "./microvm-driver.ts";
import { probeKey, recallProbe, rememberProbe } from "./probe-memory.ts";
import { withDeadline } from "./with-deadline.ts";

/** How the microVM sandbox works. All of it may be left out. */
export interface MicrosandboxSettings {
  /**
   * OCI reference, or absolute path of an archive (docker save, OCI layout), a folder or a disk image. It needs a C
   * library (glibc), nothing else. Default: an image of this host's C library, made here.
   */
  image?: string | undefined;
  /** Processors of each machine. Default 1. */
  cpus?: number | undefined;
  /** Where machines, images and logs are kept; only this user can read it. Default: `~/.cache/cem/microsandbox`. */
  home?: string | undefined;
  /** Absolute path of a Deno 2.9 binary for Linux. Default: the one that npm installed. */
  denoPath?: string | undefined;
  /** A machine that has not booted and answered by then is thrown away, in milliseconds. Default 30,000. */
  bootTimeoutMs?: number | undefined;
  /** Machines that run at once over all sandboxes of this provider; more runs wait in turn. Default: the processors, at least 2. */
  maxConcurrentRuns?: number | undefined;
  /** Booted machines that wait in each sandbox. Default 2. */
  standby?: number | undefined;
  /** How many may wait after a time of many runs. Default: four times `standby`. */
  maxStandby?: number | undefined;
  /** Without a run for so long a sandbox lets its waiting machines go, in milliseconds. Default 300,000. */
  idleMs?: number | undefined;
  /** `session`: runs that name the same session may share a machine, one after another. Default `none`. */
  reuse?: SandboxReuse | undefined;
  /** How long a run may wait for its turn, in milliseconds. Default: as long as it takes. */
  queueTimeoutMs?: number | undefined;
}

/** Makes sandboxes whose state can be looked at. */
export interface MicrosandboxProvider extends SandboxProvider {
  create(spec: SandboxSpec, options?: { signal?: AbortSignal | undefined }): Promise<GuestSandbox>;
}

const DEFAULT_BOOT_TIMEOUT_MS = 30_000;
/** A machine that is up answers in a part of the time that it may take to boot. */
const BOOT_TO_ANSWER = 10;
const MIN_CONCURRENT_RUNS = 2;
const BYTES_PER_MIB = 1024 * 1024;
const MACHINE_MAX_SECONDS = 24 * 60 * 60;
const INSTALL = "Install it beside this package: npm install microsandbox.";
const MECHANISMS = ["microVM", "restricted profile", "not root", "rlimits", "deno permissions"];

/** A sandbox provider that runs code in microVMs of microsandbox on this host. */
export function createMicrosandboxProvider(settings: MicrosandboxSettings = {}): MicrosandboxProvider {
  return new EmbeddedProvider(settings);
}

/** What every sandbox of a provider shares. */
interface Prepared {
  driver: MicrovmDriver;
  runtime: GuestRuntime;
  image: PreparedImage;
}

class EmbeddedProvider implements MicrosandboxProvider {
  readonly specificationVersion = "v1";
  readonly name = "microsandbox";
  readonly #settings: MicrosandboxSettings;
  readonly #home: string;
  readonly #gate: FairGate;
  readonly #isolation: Isolation = { level: "microvm", sandbox: "microsandbox", mechanisms: MECHANISMS };
  #prepared: Promise<Prepared> | undefined;
  #probe: Promise<SandboxProbe> | undefined;

  constructor(settings: MicrosandboxSettings) {
    this.#settings = settings;
    this.#home = settings.home ?? defaultHome();
    const concurrent = Math.max(MIN_CONCURRENT_RUNS, availableParallelism());
    this.#gate = new FairGate(settings.maxConcurrentRuns ?? concurrent);
  }

  probe({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<SandboxProbe> {
    signal?.throwIfAborted();
    this.#probe ??= this.#tryHost();
    return this.#probe;
  }

  async create(
    spec: SandboxSpec,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<GuestSandbox> {
    signal?.throwIfAborted();
    checkSpec(spec);
    const limits = resolveLimits(spec.limits);
    const probe = await this.probe();
    if (!probe.available) {
      throw new CemError(
        "SANDBOX_UNAVAILABLE",
        `No microVM starts on this host: ${probe.reason} ${probe.hint}`,
        { details: { reason: probe.reason } },
      );
    }
    const prepared = await this.#prepare();
    signal?.throwIfAborted();
    const imports = writeGuestImports(this.#home, `file://${guestBootPath(prepared.runtime)}`, spec);
    return createGuestSandbox({
      isolation: this.#isolation,
      limits,
      gate: this.#gate,
      standby: this.#settings.standby,
      maxStandby: this.#settings.maxStandby,
      idleMs: this.#settings.idleMs,
      reuse: this.#settings.reuse,
      defaultSession: spec.defaultSession,
      queueTimeoutMs: this.#settings.queueTimeoutMs,
      startTimeoutMs: this.#bootTimeoutMs,
      healthTimeoutMs: this.#bootTimeoutMs / BOOT_TO_ANSWER,
      startGuest: () => this.#startGuest(prepared, { ...spec, limits }, imports),
      cleanUp: async () => imports.remove(),
    });
  }

  get #bootTimeoutMs(): number {
    return this.#settings.bootTimeoutMs ?? DEFAULT_BOOT_TIMEOUT_MS;
  }

  #prepare(): Promise<Prepared> {
    this.#prepared ??= this.#prepareOnce().catch((error: unknown) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  async #prepareOnce(): Promise<Prepared> {
    const runtime = findGuestRuntime(this.#settings.denoPath);
    const driver = await createEmbeddedDriver(this.#home);
    await sweepLeftovers(driver);
    return { driver, runtime, image: await driver.prepareImage(this.#settings.image, runtime) };
  }

  async #startGuest(
    { driver, runtime, image }: Prepared,
    spec: SandboxSpec,
    imports?: GuestImports,
  ): Promise<Guest> {
    const { workspaceDir, mounts = [], hidden = [], network = "none" } = spec;
    const { memoryMb, writeMb } = resolveLimits(spec.limits);
    const own = image.hasRuntime
      ? []
      : [{ hostPath: stageRuntime(this.#home, runtime), guestPath: GUEST_RUNNER, readOnly: true }];
    if (imports?.mount !== undefined) own.push(imports.mount);
    const name = newMachineName();
    const creating = driver.create({
      name,
      image: image.name,
      cpus: this.#settings.cpus ?? 1,
      memoryMb: Math.ceil(memoryMb) + MACHINE_OVERHEAD_MB,
      mounts: [{ hostPath: workspaceDir, guestPath: GUEST_WORKSPACE, readOnly: false }, ...own, ...mounts],
      network,
      maxSeconds: MACHINE_MAX_SECONDS,
      labels: ownLabels(),
    });
    const machine = await withDeadline(creating, {
      ms: this.#bootTimeoutMs,
      what: "Booting the machine",
      overdue: () => void driver.remove(name).catch(() => {}),
      late: (microvm) => void microvm.kill().catch(() => {}),
    });
    const plan = { mounts, network, memoryMb, denyRead: hidden };
    const reuse = this.#settings.reuse === "session";
    return startMicrovmGuest(machine, reuse, {
      file: GUEST_DENO,
      args: namespacedDenoArguments(plan, guestBootPath(runtime), imports?.file ?? GUEST_IMPORT_MAP),
      cwd: GUEST_WORKSPACE,
      env: guestEnvironment("/tmp/deno"),
      fileBytes: Math.ceil(writeMb) * BYTES_PER_MIB,
    });
  }

  async #tryHost(): Promise<SandboxProbe> {
    const obstacle = findObstacle(readSigns());
    if (obstacle !== undefined) return { available: false, ...obstacle };
    const version = installedVersion();
    if (version === undefined) {
      return {
        available: false,
        reason: "The optional package microsandbox is not installed.",
        hint: INSTALL,
      };
    }
    const file = join(this.#home, "probe.json");
    try {
      const key = probeKey(version, findGuestRuntime(this.#settings.denoPath).key);
      let outcome = recallProbe(file, key);
      if (outcome === undefined) {
        outcome = { key, ...(await this.#tryBoot()) };
        rememberProbe(file, outcome);
      }
      if (outcome.booted) return { available: true, isolation: this.#isolation, version, notes: [] };
      return {
        available: false,
        reason: `The processor and /dev/kvm look right, but a machine did not boot: ${outcome.reason}.`,
        hint: `Remove ${file} to try again.`,
      };
    } catch (error) {
      if (!CemError.isInstance(error)) throw error;
      return { available: false, reason: error.message, hint: "" };
    }
  }

  /** Boots a machine with an empty workspace, and has the runner answer. */
  async #tryBoot(): Promise<{ booted: boolean; reason?: string | undefined }> {
    const prepared = await this.#prepare();
    mkdirSync(this.#home, { recursive: true });
    const workspaceDir = mkdtempSync(join(this.#home, "probe-"));
    try {
      const guest = await this.#startGuest(prepared, { workspaceDir });
      const connected = await connectGuest(guest, this.#bootTimeoutMs);
      connected.guest.kill();
      await connected.guest.exited;
      return { booted: true };
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      return { booted: false, reason: said.split("\n")[0] ?? "" };
    } finally {
      rmSync(workspaceDir, { recursive: true, force: true });
    }
  }
}
