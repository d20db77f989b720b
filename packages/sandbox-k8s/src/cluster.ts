import type { Readable, Writable } from "node:stream";
import {
  CoreV1Api,
  CustomObjectsApi,
  Exec,
  KubeConfig,
  NodeV1Api,
  PatchStrategy,
  setHeaderOptions,
  Watch,
  type V1Pod,
  type V1Status,
} from "@kubernetes/client-node";
import { clusterError, isNotFound } from "./cluster-errors.ts";
import { SANDBOX_API, TEMPLATE_API, type SandboxResource, type SandboxTemplate } from "./guest-pod.ts";

/** A command to execute in a pod, and its streams. */
export interface PodCommand {
  pod: string;
  container: string;
  command: string[];
  stdin: Readable | null;
  stdout: Writable;
  stderr: Writable;
  onStatus: (status: V1Status) => void;
}

/** An open connection to a command. */
export interface ExecConnection {
  close(): void;
  addEventListener(event: "close" | "error", listener: () => void): void;
}

/** One namespace of a cluster, as far as guests need it. */
export class Cluster {
  readonly namespace: string;
  readonly server: string;
  readonly #config: KubeConfig;
  readonly #core: CoreV1Api;
  readonly #nodes: NodeV1Api;
  readonly #objects: CustomObjectsApi;

  /**
   * @param kubeconfig - Its path; `undefined` for the usual places.
   * @throws CemError `SANDBOX_UNAVAILABLE` when there is no configuration of a cluster.
   */
  constructor(kubeconfig: string | undefined, namespace: string | undefined) {
    this.#config = new KubeConfig();
    try {
      if (kubeconfig === undefined) this.#config.loadFromDefault();
      else this.#config.loadFromFile(kubeconfig);
    } catch (error) {
      throw clusterError(error, "read the configuration of a cluster", kubeconfig ?? "the usual places");
    }
    const context = this.#config.getContextObject(this.#config.getCurrentContext());
    this.namespace = namespace ?? context?.namespace ?? "default";
    this.server = this.#config.getCurrentCluster()?.server ?? "an unknown address";
    this.#core = this.#config.makeApiClient(CoreV1Api);
    this.#nodes = this.#config.makeApiClient(NodeV1Api);
    this.#objects = this.#config.makeApiClient(CustomObjectsApi);
  }

  template(name: string): Promise<SandboxTemplate> {
    return this.#try(`read the SandboxTemplate ${name} in the namespace ${this.namespace}`, () =>
      this.#objects.getNamespacedCustomObject({ ...TEMPLATE_API, namespace: this.namespace, name }),
    );
  }

  create(body: SandboxResource): Promise<SandboxResource> {
    return this.#try(`create a Sandbox in the namespace ${this.namespace}`, () =>
      this.#objects.createNamespacedCustomObject({ ...SANDBOX_API, namespace: this.namespace, body }),
    );
  }

  /** Deletes a sandbox, and waits for its pod: it is gone from the cluster only after it. */
  async remove(name: string): Promise<void> {
    try {
      await this.#objects.deleteNamespacedCustomObject({
        ...SANDBOX_API,
        namespace: this.namespace,
        name,
        body: { propagationPolicy: "Foreground" },
      });
    } catch (error) {
      if (!isNotFound(error)) throw clusterError(error, `delete the Sandbox ${name}`, this.server);
    }
  }

  /** Changes when the cluster ends a sandbox by itself. */
  async renew(name: string, shutdownTime: string): Promise<void> {
    await this.#objects.patchNamespacedCustomObject(
      { ...SANDBOX_API, namespace: this.namespace, name, body: { spec: { shutdownTime } } },
      setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
  }

  /** A sandbox; `undefined` when there is none of this name. */
  async find(name: string): Promise<SandboxResource | undefined> {
    try {
      const wanted = { ...SANDBOX_API, namespace: this.namespace, name };
      return (await this.#objects.getNamespacedCustomObject(wanted)) as SandboxResource;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw clusterError(error, `read the Sandbox ${name}`, this.server);
    }
  }

  /** Resolves when a sandbox has changed since this version, or the watch has ended. */
  async changed(name: string, resourceVersion: string, signal: AbortSignal): Promise<void> {
    const path = `/apis/${SANDBOX_API.group}/${SANDBOX_API.version}/namespaces/${this.namespace}/${SANDBOX_API.plural}`;
    const query = { fieldSelector: `metadata.name=${name}`, resourceVersion };
    let stop = (): void => {};
    try {
      await new Promise<void>((resolve) => {
        const end = (): void => resolve();
        signal.addEventListener("abort", end, { once: true });
        const watching = new Watch(this.#config).watch(path, query, end, end);
        void watching.then((watch) => (stop = () => watch.abort()), end);
      });
    } finally {
      stop();
    }
  }

  pod(name: string): Promise<V1Pod> {
    return this.#try(`read the pod ${name}`, () =>
      this.#core.readNamespacedPod({ namespace: this.namespace, name }),
    );
  }

  /** The handler of a RuntimeClass. */
  async runtimeHandler(name: string): Promise<string> {
    const { handler } = await this.#try(`read the RuntimeClass ${name}`, () =>
      this.#nodes.readRuntimeClass({ name }),
    );
    return handler;
  }

  /** The boot id of a node's kernel; `undefined` where it may not be read. */
  async nodeBootId(name: string): Promise<string | undefined> {
    const node = await this.#core.readNode({ name }).catch(() => undefined);
    return node?.status?.nodeInfo?.bootID;
  }

  /** Executes a command in a pod, over a websocket. */
  exec(command: PodCommand): Promise<ExecConnection> {
    const { pod, container, stdin, stdout, stderr, onStatus } = command;
    const exec = new Exec(this.#config);
    const { namespace } = this;
    return this.#try(`execute a command in the pod ${pod}`, () =>
      exec.exec(namespace, pod, container, command.command, stdout, stderr, stdin, false, onStatus),
    );
  }

  async #try<Result>(what: string, request: () => Promise<Result>): Promise<Result> {
    try {
      return await request();
    } catch (error) {
      throw clusterError(error, what, this.server);
    }
  }
}
