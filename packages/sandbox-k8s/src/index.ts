export { createKubernetesProvider } from "./provider.ts";
// Excludes anything that refers to types of the client, which is bundled without its declarations.
export type { KubernetesSettings, OwnerPod, SharedVolume } from "./provider-settings.ts";
export type { GuestSandboxProvider } from "@cem/sandbox";
