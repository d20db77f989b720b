// The parts of the custom resources of agent-sandbox that are read or written here.
import type { V1Condition, V1ObjectMeta, V1PodSpec } from "@kubernetes/client-node";

export const SANDBOX_API = { group: "agents.x-k8s.io", version: "v1beta1", plural: "sandboxes" } as const;
export const TEMPLATE_API = {
  group: "extensions.agents.x-k8s.io",
  version: "v1beta1",
  plural: "sandboxtemplates",
} as const;
/** Names the pod of a sandbox where it is not the sandbox's own name. */
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
