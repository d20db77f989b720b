import { setTimeout as sleep } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { GuestProviderSettings } from "@cem/sandbox";
import { createEmbeddedDriver, type EmbeddedDriver } from "./embedded-driver.ts";
import { findGuestRuntime } from "./guest-runtime.ts";
import { HOST_LABEL, OWN_LABEL, OWN_VALUE } from "./own-machines.ts";
import { defaultHome } from "./load-sdk.ts";
import type { Microvm, MicrovmSpec } from "./microvm-guest.ts";

/** Settings of `createMicrosandboxProvider`, all optional. `maxConcurrentRuns`: by default the processors, at least 2. */
export interface MicrosandboxSettings extends GuestProviderSettings {
  /**
   * OCI reference, or absolute path of an archive (docker save, OCI layout), a folder or a disk image. All it needs is
   * a C library (glibc).
   *
   * @defaultValue An image built from this host's C library.
   */
  image?: string | undefined;
  /**
   * Folder for machines, images and logs, which only this user can read.
   *
   * @defaultValue `~/.cache/cem/microsandbox`
   */
  home?: string | undefined;
  /**
   * Absolute path of a Deno 2.9 binary for Linux.
   *
   * @defaultValue The binary that npm installed.
   */
  denoPath?: string | undefined;
  /**
   * Timeout for a machine's boot, in milliseconds.
   *
   * @defaultValue 30,000
   */
  bootTimeoutMs?: number | undefined;
}

/** Creates a machine. One that has not booted in time is removed, even if it boots later. */
export async function bootMachine(
  driver: Pick<EmbeddedDriver, "create" | "remove">,
  spec: MicrovmSpec,
  timeoutMs: number,
): Promise<Microvm> {
  const booting = driver.create(spec);
  const settled = new AbortController();
  const timeout = sleep(timeoutMs, undefined, { signal: settled.signal });
  const machine = await Promise.race([booting, timeout]).finally(() => settled.abort());
  if (machine !== undefined) return machine;
  void driver.remove(spec.name).catch(() => {});
  void booting.then((late) => late.kill()).catch(() => {});
  throw new CemError("GUEST_START_FAILED", `The machine did not boot within ${timeoutMs} ms.`, {
    details: { timeoutMs },
  });
}

/** A machine created by this package, in any process on this host. */
export interface ListedMachine {
  name: string;
  /** The owning process, by pid and start time: `4711-829145`. */
  host: string | undefined;
}

/**
 * Prepares the image of machines ahead of their first use. Needs no virtualization.
 *
 * @throws CemError `SANDBOX_UNAVAILABLE` or `SANDBOX_IMAGE_UNUSABLE`.
 */
export async function prepareMachines(settings: MicrosandboxSettings = {}): Promise<void> {
  const driver = await createEmbeddedDriver(settings.home ?? defaultHome());
  await driver.prepareImage(settings.image, findGuestRuntime(settings.denoPath));
}

/**
 * Lists machines, running or left behind.
 *
 * @param home - Their folder.
 * @throws CemError `SANDBOX_UNAVAILABLE`.
 */
export async function listMachines(home: string = defaultHome()): Promise<ListedMachine[]> {
  const driver = await createEmbeddedDriver(home);
  const found = await driver.list(OWN_LABEL, OWN_VALUE);
  return found.map(({ name, labels }) => ({ name, host: labels[HOST_LABEL] }));
}
