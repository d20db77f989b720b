import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { CemError, Lazy, type SandboxSpec } from "@cem/core";
import { resolveLimits, type Guest, type GuestSandboxProvider } from "@cem/sandbox";
import { createGuestProvider, guestInit, probeHost, requireLevel } from "@cem/sandbox/provider-kit";
import { connectCluster, type Cluster } from "./cluster.ts";
import { guestCommand, guestPod } from "./guest-pod.ts";
import { createGuestSandboxes, guestLabels, newGuestName } from "./guest-sandboxes.ts";
import { judgeIsolation, type PodIsolation } from "./pod-isolation.ts";
import { startPodGuest } from "./pod-guest.ts";
import type { KubernetesSettings } from "./provider-settings.ts";

const DEFAULT_TEMPLATE = "cem-guest";
const DEFAULT_START_TIMEOUT_MS = 120_000;
const DEFAULT_LEASE_MS = 600_000;
const DEFAULT_CONCURRENT_RUNS = 16;
/** Timeout for the start of the guest runner in a ready pod. */
const GUEST_TIMEOUT_MS = 30_000;
const HEALTH_TIMEOUT_MS = 10_000;
const KATA =
  "A runtimeClassName of Kata Containers in the SandboxTemplate gives each guest a kernel of its own.";
const API_VERSION = "agents.x-k8s.io/v1beta1";

/** Creates a sandbox provider that runs code in pods, with the custom resources of agent-sandbox. */
export function createKubernetesProvider(settings: KubernetesSettings): GuestSandboxProvider {
  const { kubeconfig, namespace, template: templateName = DEFAULT_TEMPLATE, volume, owner } = settings;
  const { leaseMs = DEFAULT_LEASE_MS, startTimeoutMs = DEFAULT_START_TIMEOUT_MS } = settings;
  const prepared = new Lazy(async () => {
    const connected = await connect();
    return { ...connected, ...(await tryPod(connected)) };
  });

  type Connected = Awaited<ReturnType<typeof connect>>;

  async function connect() {
    const cluster = connectCluster(kubeconfig, namespace);
    const { spec } = await cluster.template(templateName);
    return { cluster, sandboxes: createGuestSandboxes(cluster, leaseMs), template: spec.podTemplate };
  }

  function resourceOf({ sandboxes, cluster, template }: Connected, spec: SandboxSpec) {
    return guestPod(template, {
      name: newGuestName(),
      namespace: cluster.namespace,
      labels: guestLabels(),
      owner,
      volume,
      spec,
      memoryMb: resolveLimits(spec.limits).memoryMb,
      shutdownAt: sandboxes.leaseEnd(),
    });
  }

  async function startPod(connected: Connected, spec: SandboxSpec) {
    const { sandboxes, template } = connected;
    const resource = resourceOf(connected, spec);
    const name = resource.metadata.name ?? "";
    const pod = await sandboxes.start(resource, startTimeoutMs);
    return { pod, container: template.spec.containers[0]?.name ?? "", end: () => sandboxes.end(name) };
  }

  async function startGuest(connected: Connected, spec: SandboxSpec): Promise<Guest> {
    const sandbox = await startPod(connected, spec);
    return startPodGuest(connected.cluster, sandbox, guestCommand(spec), guestInit(spec, settings));
  }

  /** Starts a pod to test whether pods start, which files they share and whose kernel they use. */
  async function tryPod(connected: Connected): Promise<PodIsolation> {
    const { cluster, template } = connected;
    const workspaceDir = makeProbeFolder(volume.root);
    try {
      const sandbox = await startPod(connected, { workspaceDir });
      try {
        const guestBootId = await readBootId(cluster, sandbox);
        const { spec } = await cluster.pod(sandbox.pod);
        const { runtimeClassName } = template.spec;
        return judgeIsolation(template.spec, {
          handler: runtimeClassName && (await cluster.runtimeHandler(runtimeClassName)),
          guestBootId,
          nodeBootId: spec?.nodeName && (await cluster.nodeBootId(spec.nodeName)),
        });
      } finally {
        await sandbox.end();
      }
    } finally {
      rmSync(workspaceDir, { recursive: true, force: true });
    }
  }

  return createGuestProvider(settings, {
    name: "kubernetes",
    concurrentRuns: DEFAULT_CONCURRENT_RUNS,
    machine: {
      where: "in a pod",
      startTimeoutMs: GUEST_TIMEOUT_MS,
      healthTimeoutMs: HEALTH_TIMEOUT_MS,
    },
    probe: () =>
      probeHost(async () => {
        const { isolation, notes, cluster } = await prepared.get();
        return { available: true, isolation, version: `${API_VERSION} at ${cluster.server}`, notes };
      }),
    async prepare(spec) {
      const found = await prepared.get();
      requireLevel(spec.minIsolation, found.isolation, {
        reached: `pods of this template reach ${found.isolation.level}`,
        notes: found.notes,
        advice: [...found.notes, KATA].join(" "),
      });
      // Reports folders that are not on the volume at once, not at the first run.
      resourceOf(found, spec);
      return { isolation: found.isolation, startGuest: () => startGuest(found, spec) };
    },
  });
}

function makeProbeFolder(root: string): string {
  try {
    return mkdtempSync(join(root, ".cem-probe-"));
  } catch (error) {
    const message = `The shared volume is not mounted at ${root}, or this process may not write to it. Guests get their files from there.`;
    throw new CemError("SANDBOX_UNAVAILABLE", message, { details: { root }, cause: error });
  }
}

async function readBootId(cluster: Cluster, { pod, container }: { pod: string; container: string }) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const ended = Promise.withResolvers<void>();
  const connection = await cluster.exec({
    pod,
    container,
    command: ["cat", "/proc/sys/kernel/random/boot_id"],
    stdin: null,
    stdout,
    stderr,
    onStatus: () => ended.resolve(),
  });
  connection.addEventListener("close", () => {
    stdout.end();
    stderr.end();
    ended.resolve();
  });
  const [output, complaint] = await Promise.all([text(stdout), text(stderr), ended.promise]);
  connection.close();
  const bootId = output.trim();
  // Since it differs from the node's, an empty id would look like a kernel of the pod's own.
  if (bootId === "")
    throw new CemError("SANDBOX_UNAVAILABLE", `No command runs in the pod ${pod}: ${complaint.trim()}`, {
      details: { pod, container },
    });
  return bootId;
}
