import * as z from "zod/mini";
import { number, setting, text, withDefault } from "./setting.ts";
import { atMost, needsYes } from "./risk.ts";

const MAX_SECONDS = 3_600;

/** Settings of the pods that `execution.sandbox_type: kubernetes` runs code in. */
export const kubernetesSettings = {
  template: setting(
    withDefault(text, "cem-guest"),
    "Name of the SandboxTemplate of agent-sandbox whose pod the guests get.",
    {
      risk: needsYes(["reach"], "code runs in pods of that template, with your kubeconfig", {
        when: "kubernetes",
      }),
    },
  ),
  namespace: setting(
    z.optional(text),
    "Namespace of the template and the guests. Default: that of the kubeconfig's context, or of this process's pod.",
    {
      risk: needsYes(["reach"], "code runs in pods of that namespace, with your kubeconfig", {
        when: "kubernetes",
      }),
    },
  ),
  volumeClaim: setting(
    z.optional(text),
    "Name of the PersistentVolumeClaim that this process and the guests share. Required.",
    { risk: needsYes(["reach"], "pods get the files of that volume", { when: "kubernetes" }) },
  ),
  volumeRoot: setting(
    withDefault(text, "/files"),
    "Absolute path at which this process has that volume mounted. The workspace, tools and skills have to be below.",
    { risk: needsYes(["reach"], "files are exchanged with pods there", { when: "kubernetes" }) },
  ),
  startTimeout: setting(
    withDefault(number(1, MAX_SECONDS), 120),
    "Seconds in which a guest's pod has to be ready, the pull of its image included.",
    {
      risk: needsYes(["spend"], "a pod may take that many seconds to start", {
        isStricter: atMost,
        when: "kubernetes",
      }),
    },
  ),
};
