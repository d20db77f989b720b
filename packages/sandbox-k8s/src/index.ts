export { createKubernetesProvider } from "./provider.ts";
// Apart from what names types of the client, which is bundled and whose declarations are not there.
export type { KubernetesSettings, OwnerPod, SharedVolume } from "./provider-settings.ts";
export type { GuestSandboxProvider } from "@cem/sandbox";
