import { Lazy } from "@cem/core";
import type { Mount, RunMeter, SandboxProvider, SandboxSpec } from "@cem/core";
import { chooseProvider } from "./choose-sandbox.ts";
import type { LoadedFor } from "./customer.ts";

/** By the settings that make it. A provider holds no guests, only the gate at which its runs take turns. */
const providers = new Map<string, Lazy<SandboxProvider>>();

/** What the sandbox of a customer has that another has not. */
export interface CustomerSandbox extends Pick<SandboxSpec, "owner" | "meter"> {
  mounts: readonly Mount[];
  sandboxProvider: SandboxProvider;
}

/**
 * What the sandbox of a customer needs. Customers of one process share a provider, at whose gate they take turns.
 *
 * @returns `undefined` where there is no customer.
 */
export async function customerSandbox(
  { config, customer }: LoadedFor,
  {
    meter,
    sandboxProvider,
    oneRun = false,
  }: {
    meter: RunMeter | undefined;
    sandboxProvider?: SandboxProvider | undefined;
    oneRun?: boolean | undefined;
  },
): Promise<CustomerSandbox | undefined> {
  if (customer === undefined) return undefined;
  const { id, sessionsDir } = customer;
  return {
    owner: id,
    meter,
    mounts: [{ hostPath: sessionsDir, guestPath: "/workspace/sessions", readOnly: true }],
    sandboxProvider: sandboxProvider ?? (await sharedProvider(config, oneRun).get()),
  };
}

/** The meter of a customer's runs. `undefined` where there is no customer. */
export async function customerMeter({ config, customer, store }: LoadedFor): Promise<RunMeter | undefined> {
  if (customer === undefined) return undefined;
  const { createRunMeter } = await import("@cem/workspace");
  const { quotas } = config.customers;
  return createRunMeter({ home: customer.home, quotas, store: await store?.get() });
}

function sharedProvider(config: LoadedFor["config"], oneRun: boolean): Lazy<SandboxProvider> {
  const { sandboxType, sandboxImage, msbServerUrl } = config.execution;
  const { enabled, sandboxPooling, sandboxPoolSize, sandboxKeptGuests, sandboxReuse } = config.optimizations;
  const key = JSON.stringify([
    [sandboxType, sandboxImage, msbServerUrl, config.customers.dir],
    [enabled && sandboxPooling && !oneRun ? sandboxPoolSize : 0, enabled && sandboxReuse, sandboxKeptGuests],
  ]);
  let provider = providers.get(key);
  if (provider === undefined) {
    provider = new Lazy(() => chooseProvider(config, oneRun));
    providers.set(key, provider);
  }
  return provider;
}
