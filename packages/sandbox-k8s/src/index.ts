export { createKubernetesProvider } from "./provider.ts";
export type { KubernetesSettings } from "./provider.ts";
export type { OwnerPod, SharedVolume } from "./guest-pod.ts";
export type { GuestSandboxProvider } from "@cem/sandbox";
