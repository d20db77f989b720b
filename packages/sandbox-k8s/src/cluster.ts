import type { Readable, Writable } from "node:stream";
import {
  CoreV1Api,
  CustomObjectsApi,
  Exec,
  KubeConfig,
  NodeV1Api,
  PatchStrategy,
  setHeaderOptions,
} from "@kubernetes/client-node";
import type { V1Status } from "@kubernetes/client-node";
import { clusterError, isNotFound } from "./cluster-errors.ts";
import { SANDBOX_API, TEMPLATE_API, type SandboxResource, type SandboxTemplate } from "./guest-pod.ts";

export interface PodCommand {
  pod: string;
  container: string;
  command: string[];
  stdin: Readable | null;
  stdout: Writable;
  stderr: Writable;
  onStatus: (status: V1Status) => void;
}

export interface ExecConnection {
  close(): void;
  addEventListener(event: "close" | "error", listener: () => void): void;
}

/** The operations of one namespace of a cluster that guests need. */
export type Cluster = ReturnType<typeof connectCluster>;

/** @throws CemError `SANDBOX_UNAVAILABLE` when no cluster is configured, at this path or else at the default locations. */
export function connectCluster(kubeconfig: string | undefined, given: string | undefined) {
  const config = new KubeConfig();
  try {
    if (kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(kubeconfig);
  } catch (error) {
    throw clusterError(error, "read the configuration of a cluster", kubeconfig ?? "the usual places");
  }
  const namespace = given ?? config.getContextObject(config.getCurrentContext())?.namespace ?? "default";
  const server = config.getCurrentCluster()?.server ?? "an unknown address";
  const [core, nodes] = [config.makeApiClient(CoreV1Api), config.makeApiClient(NodeV1Api)];
  const objects = config.makeApiClient(CustomObjectsApi);
  const place = { ...SANDBOX_API, namespace };

  async function attempt<Result>(what: string, request: () => Promise<Result>): Promise<Result> {
    try {
      return await request();
    } catch (error) {
      throw clusterError(error, what, server);
    }
  }

  return {
    namespace,
    server,
    template: (name: string): Promise<SandboxTemplate> =>
      attempt(`read the SandboxTemplate ${name} in the namespace ${namespace}`, () =>
        objects.getNamespacedCustomObject({ ...TEMPLATE_API, namespace, name }),
      ),
    create: (body: SandboxResource): Promise<SandboxResource> =>
      attempt(`create a Sandbox in the namespace ${namespace}`, () =>
        objects.createNamespacedCustomObject({ ...place, body }),
      ),
    /** Deletes a sandbox after its pod: resolves when both are gone from the cluster. */
    async remove(name: string): Promise<void> {
      const body = { propagationPolicy: "Foreground" };
      await objects.deleteNamespacedCustomObject({ ...place, name, body }).catch((error: unknown) => {
        if (!isNotFound(error)) throw clusterError(error, `delete the Sandbox ${name}`, server);
      });
    },
    /** Sets when the cluster ends a sandbox by itself. */
    async renew(name: string, shutdownTime: string): Promise<void> {
      await objects.patchNamespacedCustomObject(
        { ...place, name, body: { spec: { shutdownTime } } },
        setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
      );
    },
    async find(name: string): Promise<SandboxResource | undefined> {
      try {
        return (await objects.getNamespacedCustomObject({ ...place, name })) as SandboxResource;
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw clusterError(error, `read the Sandbox ${name}`, server);
      }
    },
    pod: (name: string) => attempt(`read the pod ${name}`, () => core.readNamespacedPod({ namespace, name })),
    async runtimeHandler(name: string): Promise<string> {
      return (await attempt(`read the RuntimeClass ${name}`, () => nodes.readRuntimeClass({ name }))).handler;
    },
    /** The boot id of a node's kernel; `undefined` without permission to read it. */
    async nodeBootId(name: string): Promise<string | undefined> {
      return (await core.readNode({ name }).catch(() => undefined))?.status?.nodeInfo?.bootID;
    },
    exec: ({ pod, container, command, stdin, stdout, stderr, onStatus }: PodCommand) =>
      attempt<ExecConnection>(`execute a command in the pod ${pod}`, () =>
        new Exec(config).exec(namespace, pod, container, command, stdout, stderr, stdin, false, onStatus),
      ),
  };
}
