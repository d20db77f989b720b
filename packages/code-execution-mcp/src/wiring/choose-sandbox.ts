import type { Config } from "@cem/config";
import type { SandboxProbe, SandboxProvider } from "@cem/core";

/** How long a run waits for its turn before it is told to come again, in milliseconds. */
const QUEUE_TIMEOUT_MS = 60_000;

/** The configuration's pool, as a provider's settings. */
function poolSettings({ optimizations }: Config, oneRun: boolean) {
  const { enabled, sandboxPooling, sandboxPoolSize, sandboxReuse } = optimizations;
  const standby = enabled && sandboxPooling && !oneRun ? sandboxPoolSize : 0;
  return { standby, reuse: enabled ? sandboxReuse : "none", queueTimeoutMs: QUEUE_TIMEOUT_MS } as const;
}

/** microVMs of this host; those of an older server only where both it and microsandbox were asked for by name. */
async function createMicrosandbox(config: Config, oneRun: boolean): Promise<SandboxProvider> {
  const { sandboxImage, sandboxType, msbServerUrl: url, msbApiKey } = config.execution;
  const image = sandboxImage === "auto" ? undefined : sandboxImage;
  const settings = { ...poolSettings(config, oneRun), image };
  if (url === undefined || sandboxType !== "microsandbox") {
    const { createMicrosandboxProvider } = await import("@cem/sandbox-msb");
    return createMicrosandboxProvider(settings);
  }
  const { createMicrosandboxServerProvider } = await import("@cem/sandbox-msb/server");
  return createMicrosandboxServerProvider({ ...settings, url, apiKey: msbApiKey?.reveal() });
}

/** Whether a look at this host leaves it open. What runs microVMs is not loaded where none can run. */
async function mayRunMicrovms(): Promise<boolean> {
  const { findObstacle, readSigns } = await import("@cem/sandbox-msb/host");
  return findObstacle(readSigns()) === undefined;
}

/** The provider that the configuration asks for; for `auto` the strongest that this host gives. */
export async function chooseProvider(config: Config, oneRun: boolean): Promise<SandboxProvider> {
  const { sandboxType } = config.execution;
  if (sandboxType === "microsandbox") return createMicrosandbox(config, oneRun);
  if (sandboxType === "auto" && (await mayRunMicrovms())) {
    const microsandbox = await createMicrosandbox(config, oneRun);
    if ((await microsandbox.probe()).available) return microsandbox;
  }
  const { createDenoSandboxProvider } = await import("@cem/sandbox-deno");
  return createDenoSandboxProvider(poolSettings(config, oneRun));
}

/** What each sandbox that the configuration may mean gives on this host. */
export async function probeSandboxes(
  config: Config,
  options: { signal?: AbortSignal | undefined },
): Promise<{ name: string; probe: SandboxProbe }[]> {
  const { sandboxType } = config.execution;
  const { createDenoSandboxProvider } = await import("@cem/sandbox-deno");
  const deno = createDenoSandboxProvider();
  const microsandbox = await createMicrosandbox(config, true);
  const providers = { auto: [deno, microsandbox], deno: [deno], microsandbox: [microsandbox] }[sandboxType];
  const probing = providers.map(async (provider) => ({
    name: provider.name,
    probe: await provider.probe(options),
  }));
  return Promise.all(probing);
}
