import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { CemError, Lazy, type Isolation, type SandboxProbe, type SandboxSpec } from "@cem/core";
import { resolveLimits, type Guest, type GuestSandboxProvider } from "@cem/sandbox";
import {
  connectGuest,
  createGuestProvider,
  GUEST_RUNNER,
  guestInit,
  guestMounts,
  machineCommand,
  probeHost,
} from "@cem/sandbox/provider-kit";
import { bootMachine, type MicrosandboxSettings } from "./machines.ts";
import { createEmbeddedDriver } from "./embedded-driver.ts";
import { findGuestRuntime, GUEST_DENO, guestBootPath, stageRuntime } from "./guest-runtime.ts";
import { cacheProbe, findObstacle, probeKey, readCachedProbe, readSigns } from "./host-virtualization.ts";
import { newMachineName, ownLabels, sweepLeftovers } from "./own-machines.ts";
import { defaultHome, installedVersion } from "./load-sdk.ts";
import { MACHINE_OVERHEAD_MB, startMicrovmGuest } from "./microvm-guest.ts";

const DEFAULT_BOOT_TIMEOUT_MS = 30_000;
/** A health check's timeout is this fraction of the boot timeout. */
const BOOT_TO_HEALTH = 10;
const MIN_CONCURRENT_RUNS = 2;
const MACHINE_MAX_SECONDS = 24 * 60 * 60;
const INSTALL = "Install it: npm install microsandbox@0.6";
const MECHANISMS = ["microVM", "restricted profile", "not root", "rlimits", "deno permissions", "realm"];

/** Creates a sandbox provider that runs code in microVMs on this host, with the package `microsandbox`. */
export function createMicrosandboxProvider(settings: MicrosandboxSettings = {}): GuestSandboxProvider {
  const { home = defaultHome(), bootTimeoutMs: startTimeoutMs = DEFAULT_BOOT_TIMEOUT_MS } = settings;
  const isolation: Isolation = { level: "microvm", sandbox: "microsandbox", mechanisms: MECHANISMS };
  const prepared = new Lazy(async () => {
    const runtime = findGuestRuntime(settings.denoPath);
    const driver = await createEmbeddedDriver(home);
    await sweepLeftovers(driver);
    return { driver, runtime, image: await driver.prepareImage(settings.image, runtime) };
  });
  let probing: Promise<SandboxProbe> | undefined;

  async function startGuest(spec: SandboxSpec): Promise<Guest> {
    const { driver, runtime, image } = await prepared.get();
    const { memoryMb } = resolveLimits(spec.limits);
    const own = image.hasRuntime
      ? []
      : [{ hostPath: stageRuntime(home, runtime), guestPath: GUEST_RUNNER, readOnly: true }];
    const machineSpec = {
      name: newMachineName(),
      image: image.name,
      memoryMb: Math.ceil(memoryMb) + MACHINE_OVERHEAD_MB,
      mounts: [...guestMounts(spec), ...own],
      network: spec.network ?? "none",
      maxSeconds: MACHINE_MAX_SECONDS,
      labels: ownLabels(),
    };
    const machine = await bootMachine(driver, machineSpec, startTimeoutMs);
    const command = machineCommand(spec, GUEST_DENO, guestBootPath(runtime));
    return startMicrovmGuest(machine, guestInit(spec, settings), command);
  }

  async function tryHost(): Promise<SandboxProbe> {
    const obstacle = findObstacle(readSigns());
    if (obstacle !== undefined) return { available: false, ...obstacle };
    return probeHost(async () => {
      const version = await installedVersion();
      if (version === undefined) {
        const reason = "The optional package microsandbox is not installed.";
        return { available: false, reason, hint: INSTALL };
      }
      const file = join(home, "probe.json");
      const key = probeKey(version, findGuestRuntime(settings.denoPath).key);
      let outcome = readCachedProbe(file, key);
      if (outcome === undefined) {
        outcome = { key, ...(await tryBoot()) };
        cacheProbe(file, outcome);
      }
      if (outcome.booted) return { available: true, isolation, version, notes: [] };
      return {
        available: false,
        reason: `The processor and /dev/kvm look right, but a machine did not boot: ${outcome.reason}.`,
        hint: `Remove ${file} to repeat the attempt.`,
      };
    });
  }

  /** Boots a machine with an empty workspace and waits until its guest is ready. */
  async function tryBoot(): Promise<{ booted: boolean; reason?: string | undefined }> {
    await prepared.get();
    mkdirSync(home, { recursive: true });
    const workspaceDir = mkdtempSync(join(home, "probe-"));
    try {
      const { guest } = await connectGuest(await startGuest({ workspaceDir }), startTimeoutMs);
      guest.kill();
      await guest.exited;
      return { booted: true };
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      return { booted: false, reason: said.split("\n")[0] ?? "" };
    } finally {
      rmSync(workspaceDir, { recursive: true, force: true });
    }
  }

  const probe = (): Promise<SandboxProbe> => (probing ??= tryHost());
  return createGuestProvider(settings, {
    name: "microsandbox",
    concurrentRuns: Math.max(MIN_CONCURRENT_RUNS, availableParallelism()),
    machine: {
      where: "in a microVM",
      startTimeoutMs,
      healthTimeoutMs: startTimeoutMs / BOOT_TO_HEALTH,
    },
    probe,
    async prepare(spec) {
      const found = await probe();
      if (!found.available) {
        const { reason, hint } = found;
        const message = `No microVM starts on this host: ${reason} ${hint}`;
        throw new CemError("SANDBOX_UNAVAILABLE", message, { details: { reason } });
      }
      await prepared.get();
      return { isolation, startGuest: () => startGuest(spec) };
    },
  });
}
