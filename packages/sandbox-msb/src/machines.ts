import { createEmbeddedDriver } from "./embedded-driver.ts";
import { findGuestRuntime } from "./guest-runtime.ts";
import { HOST_LABEL, OWN_LABEL, OWN_VALUE } from "./leftovers.ts";
import { defaultHome } from "./load-sdk.ts";
import type { MicrosandboxSettings } from "./provider.ts";

/** A machine of this project, of whichever process on this host. */
export interface ListedMachine {
  name: string;
  /** Number and start of the process that it belongs to: `4711-829145`. */
  host: string | undefined;
}

/**
 * Gets the image of machines ready ahead of their first use. Needs no virtualization.
 *
 * @throws CemError `SANDBOX_UNAVAILABLE` or `SANDBOX_IMAGE_UNUSABLE`.
 */
export async function prepareMachines(settings: MicrosandboxSettings = {}): Promise<void> {
  const driver = await createEmbeddedDriver(settings.home ?? defaultHome());
  await driver.prepareImage(settings.image, findGuestRuntime(settings.denoPath));
}

/** The machines that are kept in a folder, running or left behind. */
export async function listMachines(home: string = defaultHome()): Promise<ListedMachine[]> {
  const driver = await createEmbeddedDriver(home);
  const found = await driver.list(OWN_LABEL, OWN_VALUE);
  return found.map(({ name, labels }) => ({ name, host: labels[HOST_LABEL] }));
}
