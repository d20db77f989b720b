import { createEmbeddedDriver } from "./embedded-driver.ts";
import { findGuestRuntime } from "./guest-runtime.ts";
import { HOST_LABEL, OWN_LABEL, OWN_VALUE } from "./leftovers.ts";
import { defaultHome } from "./load-sdk.ts";
import type { MicrosandboxSettings } from "./provider-settings.ts";

/** A machine of this package, of any process on this host. */
export interface ListedMachine {
  name: string;
  /** The owning process, by number and start time: `4711-829145`. */
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
