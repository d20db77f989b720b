import type { Isolation } from "@cem/core";
import type { V1Container, V1PodSpec } from "@kubernetes/client-node";

/** Runtime handler and boot ids, which show whether a started guest pod shares its node's kernel. */
export interface KernelFacts {
  /** Handler of the pod's RuntimeClass; `undefined` for the cluster's default runtime. */
  handler: string | undefined;
  guestBootId: string;
  /** The boot id of its node; `undefined` without permission to read it. */
  nodeBootId: string | undefined;
}

export interface PodIsolation {
  isolation: Isolation;
  notes: string[];
}

const ALWAYS = ["deno permissions", "realm"];

/** From the pod's runtime, verified by its kernel, and from the privileges that its specification removes. */
export function judgeIsolation(pod: V1PodSpec, facts: KernelFacts): PodIsolation {
  const mechanisms = [...runtimeMechanisms(facts), ...podMechanisms(pod), ...ALWAYS];
  const hasOwnKernel = isKata(facts.handler) && facts.nodeBootId !== facts.guestBootId;
  const breach = findBreach(pod, hasOwnKernel);
  if (breach !== undefined) {
    const note = `The pod shares the node's ${breach}: nothing but Deno's permissions holds.`;
    return result("permissions", [...ALWAYS], [note]);
  }
  if (!isKata(facts.handler)) return result("namespaces", mechanisms, []);
  if (facts.nodeBootId === undefined)
    return result("microvm", mechanisms, [
      "The runtime class says that the pod has a kernel of its own. The node may not be read to check it.",
    ]);
  if (hasOwnKernel) return result("microvm", mechanisms, []);
  return result(
    "namespaces",
    ["container", ...podMechanisms(pod), ...ALWAYS],
    [`The runtime class's handler is ${facts.handler}, but the pod runs on its node's kernel.`],
  );
}

function result(level: Isolation["level"], mechanisms: string[], notes: string[]): PodIsolation {
  return { isolation: { level, sandbox: "kubernetes", mechanisms }, notes };
}

function isKata(handler: string | undefined): boolean {
  return handler?.startsWith("kata") === true;
}

function runtimeMechanisms({ handler }: KernelFacts): string[] {
  if (isKata(handler)) return ["microVM (Kata Containers)"];
  return handler === "runsc" || handler === "gvisor" ? ["container", "gVisor"] : ["container"];
}

function podMechanisms(pod: V1PodSpec): string[] {
  const [container] = pod.containers;
  const own = container?.securityContext;
  const runAsNonRoot = own?.runAsNonRoot ?? pod.securityContext?.runAsNonRoot;
  const seccomp = own?.seccompProfile ?? pod.securityContext?.seccompProfile;
  const capabilities = own?.capabilities;
  const held: [string, boolean][] = [
    ["user namespace", pod.hostUsers === false],
    ["not root", runAsNonRoot === true],
    ["no capabilities", capabilities?.drop?.includes("ALL") === true && capabilities.add === undefined],
    ["seccomp", seccomp?.type !== undefined && seccomp.type !== "Unconfined"],
    ["read-only root", own?.readOnlyRootFilesystem === true],
  ];
  return held.filter(([, holds]) => holds).map(([name]) => name);
}

/** The capabilities that containers have by default, so adding one of them grants nothing more. */
const USUAL_CAPABILITIES =
  "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP SETGID SETPCAP SETUID SYS_CHROOT".split(
    " ",
  );

function findBreach(pod: V1PodSpec, hasOwnKernel: boolean): string | undefined {
  if (pod.hostPID === true) return "processes (hostPID)";
  if (pod.hostIPC === true) return "memory (hostIPC)";
  if (pod.hostNetwork === true) return "network (hostNetwork)";
  if (pod.volumes?.some(({ hostPath }) => hostPath !== undefined) === true) return "files (hostPath)";
  // All containers that run beside the guest's: they share its network and its volumes.
  const sidecars = (pod.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  for (const container of [...pod.containers, ...sidecars]) {
    const breach = findContainerBreach(container, hasOwnKernel);
    if (breach !== undefined) return breach;
  }
  return undefined;
}

function findContainerBreach({ securityContext }: V1Container, hasOwnKernel: boolean): string | undefined {
  if (securityContext?.privileged === true) return "devices (privileged)";
  if (hasOwnKernel) return undefined;
  if (securityContext?.procMount === "Unmasked") return "kernel (procMount: Unmasked)";
  const added = securityContext?.capabilities?.add?.find((name) => !USUAL_CAPABILITIES.includes(name));
  return added === undefined ? undefined : `kernel (capability ${added})`;
}
