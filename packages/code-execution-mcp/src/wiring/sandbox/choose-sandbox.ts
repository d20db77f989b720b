import path from "node:path";
import type { Config } from "@cem/config";
import { CemError, Lazy, MS_PER_SECOND } from "@cem/core";
import type { Mount, RunMeter, SandboxProbe, SandboxProvider } from "@cem/core";
import type { AgentOptions } from "../../options.ts";
import type { PluginSet } from "../../plugins/open-plugins.ts";
import type { Project } from "../project.ts";

/** How long a run is queued before it is rejected with advice to retry, in milliseconds. */
const QUEUE_TIMEOUT_MS = 60_000;

function poolSettings({ optimizations }: Config, oneRun: boolean) {
  const { enabled, sandboxPooling, sandboxPoolSize, sandboxKeptGuests, sandboxReuse } = optimizations;
  return {
    standby: enabled && sandboxPooling && !oneRun ? sandboxPoolSize : 0,
    reuse: enabled ? sandboxReuse : "none",
    keptGuests: sandboxKeptGuests,
    queueTimeoutMs: QUEUE_TIMEOUT_MS,
  } as const;
}

/** microVMs on this host. Those of an older server are used only if both it and microsandbox are configured explicitly. */
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

/** Whether this host may be able to run microVMs, so that the runtime is not loaded if it can't. */
async function mayRunMicrovms(): Promise<boolean> {
  const { findObstacle, readSigns } = await import("@cem/sandbox-msb/host");
  return findObstacle(readSigns()) === undefined;
}

async function createDeno(config: Config, oneRun: boolean): Promise<SandboxProvider> {
  const { createDenoSandboxProvider } = await import("@cem/sandbox-deno");
  return createDenoSandboxProvider(poolSettings(config, oneRun));
}

/** Pods in a cluster. They end with the pod of this process if the environment names it. */
async function createKubernetes(config: Config, oneRun: boolean): Promise<SandboxProvider> {
  const { volumeClaim: claim, volumeRoot: root, startTimeout, ...settings } = config.execution.kubernetes;
  if (claim === undefined) {
    const message = "sandbox_type kubernetes needs the volume that guests get their files from.";
    throw new CemError("SANDBOX_UNAVAILABLE", `${message} Set execution.kubernetes.volume_claim.`);
  }
  const { createKubernetesProvider } = await import("@cem/sandbox-k8s");
  const { CEM_POD_NAME: name, CEM_POD_UID: uid } = process.env;
  return createKubernetesProvider({
    ...poolSettings(config, oneRun),
    ...settings,
    volume: { claim, root },
    startTimeoutMs: startTimeout * MS_PER_SECOND,
    owner: name === undefined || uid === undefined ? undefined : { name, uid },
  });
}

type Sandboxes = ReadonlyMap<string, (config: Config, oneRun: boolean) => Promise<SandboxProvider>>;

/** The sandboxes by their names in `execution.sandbox_type`, with those of plugins last. */
function sandboxesOf(plugins: PluginSandboxes | undefined): Sandboxes {
  const added = [...(plugins?.sandboxes ?? [])].map(
    ([name, provider]) => [name, async () => provider] as const,
  );
  return new Map([
    ["deno", createDeno],
    ["microsandbox", createMicrosandbox],
    ["kubernetes", createKubernetes],
    ...added,
  ]);
}

type PluginSandboxes = Pick<PluginSet, "sandboxes" | "problems">;

/** For `auto` the strongest available on this host. @throws CemError `SANDBOX_UNAVAILABLE` for a name that no plugin provides. */
export async function chooseProvider(
  config: Config,
  oneRun = false,
  plugins?: PluginSandboxes,
): Promise<SandboxProvider> {
  const { sandboxType } = config.execution;
  if (sandboxType === "auto") {
    if (!(await mayRunMicrovms())) return createDeno(config, oneRun);
    const microsandbox = await createMicrosandbox(config, oneRun);
    return (await microsandbox.probe()).available ? microsandbox : createDeno(config, oneRun);
  }
  const sandboxes = sandboxesOf(plugins);
  const create = sandboxes.get(sandboxType);
  if (create !== undefined) return create(config, oneRun);
  const known = [...sandboxes.keys()];
  const message = [
    `No sandbox has the name ${JSON.stringify(sandboxType)}: there are auto, ${known.join(", ")}.`,
    ...(plugins?.problems() ?? []),
  ].join(" ");
  throw new CemError("SANDBOX_UNAVAILABLE", message, { details: { sandbox: sandboxType, known } });
}

/** Probes each sandbox that the configuration may use on this host. For `auto`: deno and microsandbox. */
export async function probeSandboxes(
  config: Config,
  options: { signal?: AbortSignal | undefined; plugins?: PluginSandboxes | undefined },
): Promise<{ name: string; probe: SandboxProbe }[]> {
  const { sandboxType } = config.execution;
  const sandboxes = sandboxesOf(options.plugins);
  const names = sandboxType === "auto" ? ["deno", "microsandbox"] : [sandboxType];
  const probing = names.map(async (name) => {
    const provider = await sandboxes.get(name)?.(config, true);
    if (provider !== undefined) return { name: provider.name, probe: await provider.probe(options) };
    const reason = "no plugin has brought a sandbox of this name";
    return { name, probe: { available: false, reason, hint: "" } as const };
  });
  return Promise.all(probing);
}

/** Providers by their settings. A provider holds no guests, only the concurrency gate for its runs. */
const providers = new Map<string, Lazy<SandboxProvider>>();

/** The sandbox of an owner, `undefined` without one. Owners in one process share a provider and its concurrency gate. */
export async function ownedSandbox(
  { config, owner }: Project,
  options: Pick<AgentOptions, "sandboxProvider" | "oneRun"> & { meter: RunMeter | undefined },
) {
  if (owner === undefined) return undefined;
  const { id, sessionsDir } = owner;
  const { meter, sandboxProvider, oneRun = false } = options;
  const mount: Mount = { hostPath: sessionsDir, guestPath: "/workspace/sessions", readOnly: true };
  return {
    owner: id,
    meter,
    mounts: [mount],
    sandboxProvider:
      sandboxProvider ?? (await sharedProvider(config, path.dirname(owner.home), oneRun).get()),
  };
}

/** The meter of an owner's runs. `undefined` for a project without an owner. */
export async function meterOf({ owner, store }: Project): Promise<RunMeter | undefined> {
  if (owner === undefined) return undefined;
  const { createRunMeter } = await import("@cem/workspace");
  const { home, quotas } = owner;
  return createRunMeter({ home, quotas, store: await store?.get() });
}

function sharedProvider(config: Config, root: string, oneRun: boolean): Lazy<SandboxProvider> {
  const { sandboxType, sandboxImage, msbServerUrl } = config.execution;
  const key = JSON.stringify([sandboxType, sandboxImage, msbServerUrl, root, poolSettings(config, oneRun)]);
  const provider = providers.get(key) ?? new Lazy(() => chooseProvider(config, oneRun));
  providers.set(key, provider);
  return provider;
}
