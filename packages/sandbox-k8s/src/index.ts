export { createKubernetesProvider } from "./provider.ts";
export type { KubernetesSettings, OwnerPod, SharedVolume } from "./provider-settings.ts";
export type { GuestSandboxProvider } from "@cem/sandbox";
