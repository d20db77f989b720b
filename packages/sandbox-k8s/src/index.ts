export { createKubernetesProvider } from "./provider.ts";
export type { KubernetesProvider, KubernetesSettings, OwnerPod, SharedVolume } from "./provider-settings.ts";
