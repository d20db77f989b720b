import * as z from "zod/mini";
import { number, setting, text, withDefault } from "./setting.ts";

const MAX_SECONDS = 3_600;

/** Settings of the pods that `execution.sandbox_type: kubernetes` runs code in. */
export const kubernetesSettings = {
  template: setting(
    withDefault(text, "cem-guest"),
    "Name of the SandboxTemplate of agent-sandbox whose pod the guests get.",
  ),
  namespace: setting(
    z.optional(text),
    "Namespace of the template and the guests. Default: that of the kubeconfig's context, or of this process's pod.",
  ),
  volumeClaim: setting(
    z.optional(text),
    "Name of the PersistentVolumeClaim that this process and the guests share. Required.",
  ),
  volumeRoot: setting(
    withDefault(text, "/files"),
    "Absolute path at which this process has that volume mounted. The workspace, tools and skills have to be below.",
  ),
  startTimeout: setting(
    withDefault(number(1, MAX_SECONDS), 120),
    "Seconds in which a guest's pod has to be ready, the pull of its image included.",
  ),
};
