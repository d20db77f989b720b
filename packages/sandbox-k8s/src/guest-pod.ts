import { realpathSync } from "node:fs";
import { basename, isAbsolute, relative, sep } from "node:path";
import { CemError, type Mount, type SandboxSpec } from "@cem/core";
import {
  GUEST_RUNNER,
  guestBootFile,
  guestMounts,
  machineCommand,
  scriptArguments,
} from "@cem/sandbox/provider-kit";
import type {
  V1Condition,
  V1Container,
  V1ObjectMeta,
  V1PodSpec,
  V1VolumeMount,
} from "@kubernetes/client-node";
import type { OwnerPod, SharedVolume } from "./provider-settings.ts";

// The parts of the custom resources of agent-sandbox that are read or written here.
export const SANDBOX_API = { group: "agents.x-k8s.io", version: "v1beta1", plural: "sandboxes" } as const;
export const TEMPLATE_API = {
  group: "extensions.agents.x-k8s.io",
  version: "v1beta1",
  plural: "sandboxtemplates",
} as const;
/** The name of a sandbox's pod, when it differs from the sandbox's own name. */
const POD_NAME_ANNOTATION = "agents.x-k8s.io/pod-name";

export interface PodTemplate {
  metadata?: Pick<V1ObjectMeta, "labels" | "annotations"> | undefined;
  spec: V1PodSpec;
}

export interface SandboxTemplate {
  metadata: V1ObjectMeta;
  spec: { podTemplate: PodTemplate };
}

export interface SandboxResource {
  apiVersion: string;
  kind: "Sandbox";
  metadata: V1ObjectMeta;
  spec: {
    podTemplate: PodTemplate;
    /** RFC 3339. */
    shutdownTime: string;
    shutdownPolicy: "Delete";
    service: false;
  };
  status?: { conditions?: V1Condition[]; nodeName?: string };
}

/** The pod of a sandbox once it is ready to execute commands; `undefined` before. */
export function readyPod({ metadata, status }: SandboxResource): string | undefined {
  const ready = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True");
  return ready === true ? (metadata.annotations?.[POD_NAME_ANNOTATION] ?? metadata.name) : undefined;
}

/** Memory of a pod beyond the program's limit: Deno outside of V8's heap and the idle process, in MiB. */
const OVERHEAD_MB = 128;
const VOLUME = "cem-files";
/** Does nothing until the pod is ended; the guest is started beside it. */
const IDLE = ["sleep", "infinity"];

export interface GuestPodPlan {
  name: string;
  namespace: string;
  labels: Readonly<Record<string, string>>;
  owner: OwnerPod | undefined;
  volume: SharedVolume;
  spec: Pick<SandboxSpec, "workspaceDir" | "mounts" | "network">;
  memoryMb: number;
  shutdownAt: Date;
}

/** The resource of one guest: the template's pod, which sees of the shared volume only the workspace and the mounts. */
export function guestPod(template: PodTemplate, plan: GuestPodPlan): SandboxResource {
  const { name, namespace, labels, owner, shutdownAt, spec } = plan;
  const network = spec.network ?? "none";
  const podLabels = {
    ...template.metadata?.labels,
    ...labels,
    // Selected by network policies.
    "cem/network": network === "none" ? "none" : "allowed",
  };
  return {
    apiVersion: `${SANDBOX_API.group}/${SANDBOX_API.version}`,
    kind: "Sandbox",
    metadata: {
      name,
      namespace,
      labels: { ...labels },
      ...(owner && { ownerReferences: [{ apiVersion: "v1", kind: "Pod", ...owner }] }),
    },
    spec: {
      podTemplate: {
        metadata: { ...template.metadata, labels: podLabels },
        spec: podSpec(template.spec, plan),
      },
      shutdownTime: rfc3339(shutdownAt),
      shutdownPolicy: "Delete",
      service: false,
    },
  };
}

/** Formats a time without fractions of a second, as the API server writes times. */
export function rfc3339(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}

function podSpec(template: V1PodSpec, plan: GuestPodPlan): V1PodSpec {
  const [guest, ...others] = template.containers;
  if (guest === undefined)
    throw new CemError("SANDBOX_UNAVAILABLE", "The SandboxTemplate has no container for the guest.");
  const volume = { name: VOLUME, persistentVolumeClaim: { claimName: plan.volume.claim } };
  return {
    // oxlint-disable-next-line typescript/no-misused-spread -- plain JSON in the type of a class.
    ...template,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: "Never",
    terminationGracePeriodSeconds: 0,
    containers: [guestContainer(guest, plan), ...others],
    volumes: [...(template.volumes ?? []), volume],
  };
}

function guestContainer(guest: V1Container, { volume, spec, memoryMb }: GuestPodPlan): V1Container {
  const memory = `${Math.ceil(memoryMb) + OVERHEAD_MB}Mi`;
  return {
    // oxlint-disable-next-line typescript/no-misused-spread -- plain JSON in the type of a class.
    ...guest,
    command: IDLE,
    args: [],
    resources: {
      requests: { ...guest.resources?.requests, memory },
      limits: { ...guest.resources?.limits, memory },
    },
    volumeMounts: [
      ...(guest.volumeMounts ?? []),
      ...guestMounts(spec).map((mount) => volumeMount(volume, mount)),
    ],
  };
}

function volumeMount({ root }: SharedVolume, { hostPath, guestPath, readOnly }: Mount): V1VolumeMount {
  const subPath = relative(realpathSync(root), realpathSync(hostPath));
  if (subPath === "" || subPath === ".." || subPath.startsWith(`..${sep}`) || isAbsolute(subPath))
    throw new CemError(
      "SANDBOX_SPEC_INVALID",
      `${hostPath} can't be given to a pod: it is not a folder or file below ${root}, where the shared volume is mounted.`,
      { details: { hostPath, root } },
    );
  return { name: VOLUME, mountPath: guestPath, subPath, readOnly };
}

/** Sets limits of the process, then replaces the shell and its environment. */
const START = `ulimit -c 0; ulimit -f "$1"; cd "$2" || exit 1; shift 2; exec env -i "$@"`;

/** The command that starts the guest runner in a pod whose image contains it in `/cem`. */
export function guestCommand(spec: SandboxSpec): string[] {
  const boot = `${GUEST_RUNNER}/guest/${basename(guestBootFile)}`;
  const command = machineCommand(spec, `${GUEST_RUNNER}/deno`, boot);
  return ["sh", "-c", START, "cem", ...scriptArguments(command)];
}
