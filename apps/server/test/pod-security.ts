import type { V1Container, V1PodSpec } from "@kubernetes/client-node";

const VOLUMES = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

/** The settings of a pod that the Pod Security Standard "restricted" forbids. */
export function findUnrestricted(pod: V1PodSpec): string[] {
  const context = pod.securityContext ?? {};
  const containers: V1Container[] = [...(pod.initContainers ?? []), ...pod.containers];
  const found: [string, boolean][] = [
    ["hostNetwork", pod.hostNetwork === true],
    ["hostPID", pod.hostPID === true],
    ["hostIPC", pod.hostIPC === true],
    ["runAsUser 0", context.runAsUser === 0],
    ["sysctls", (context.sysctls ?? []).length > 0],
    ...(pod.volumes ?? []).flatMap(({ name, ...source }) =>
      Object.keys(source).map((kind): [string, boolean] => [`volume ${name}: ${kind}`, !VOLUMES.has(kind)]),
    ),
    ...containers.flatMap(({ name, ports = [], securityContext: own = {} }): [string, boolean][] => [
      [`${name}: privileged`, own.privileged === true],
      [`${name}: allowPrivilegeEscalation`, own.allowPrivilegeEscalation !== false],
      [`${name}: capabilities`, own.capabilities?.drop?.includes("ALL") !== true],
      [
        `${name}: added capabilities`,
        (own.capabilities?.add ?? []).some((one) => one !== "NET_BIND_SERVICE"),
      ],
      [`${name}: runAsNonRoot`, (own.runAsNonRoot ?? context.runAsNonRoot) !== true],
      [`${name}: procMount`, (own.procMount ?? "Default") !== "Default"],
      [`${name}: hostPort`, ports.some(({ hostPort }) => hostPort !== undefined)],
      [
        `${name}: seccomp`,
        !["RuntimeDefault", "Localhost"].includes((own.seccompProfile ?? context.seccompProfile)?.type ?? ""),
      ],
    ]),
  ];
  return found.filter(([, is]) => is).map(([what]) => what);
}
