import type { GuestProviderSettings } from "@cem/sandbox";

/** The volume that this process and its guests share. */
export interface SharedVolume {
  /** Name of the PersistentVolumeClaim, in the namespace of the sandboxes. Guests on other nodes need `ReadWriteMany`. */
  claim: string;
  /** Absolute path at which the volume is mounted for this process. The folders of guests are below it. */
  root: string;
}

/** The pod that this process runs in. */
export interface OwnerPod {
  name: string;
  uid: string;
}

/** Settings of `createKubernetesProvider`. Only the volume is required. `maxConcurrentRuns`: 16 by default. */
export interface KubernetesSettings extends GuestProviderSettings {
  volume: SharedVolume;
  /**
   * Name of the SandboxTemplate that defines the pods of guests: image, runtime class, security context, nodes.
   *
   * @defaultValue `cem-guest`
   */
  template?: string | undefined;
  /**
   * Namespace of the template and the sandboxes.
   *
   * @defaultValue That of the context, or of this process's pod.
   */
  namespace?: string | undefined;
  /**
   * Path of a kubeconfig.
   *
   * @defaultValue `KUBECONFIG`, `~/.kube/config`, or the service account of this process's pod.
   */
  kubeconfig?: string | undefined;
  /** The pod whose end also ends the guests, if they share a namespace. Absent: guests end with their lease. */
  owner?: OwnerPod | undefined;
  /**
   * Timeout for a pod's start, including the pull of its image, in milliseconds.
   *
   * @defaultValue 120,000
   */
  startTimeoutMs?: number | undefined;
  /**
   * Time after which the cluster ends a guest whose process is gone, in milliseconds. Guests in use are renewed.
   *
   * @defaultValue 600,000
   */
  leaseMs?: number | undefined;
}
