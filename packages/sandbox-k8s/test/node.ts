import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import {
  CoreV1Api,
  CustomObjectsApi,
  PatchStrategy,
  setHeaderOptions,
  Watch,
  type KubeConfig,
  type V1Container,
  type V1PodSpec,
} from "@kubernetes/client-node";
import { guestBootFile } from "@cem/sandbox/provider-kit";
import { WebSocketServer, type WebSocket } from "ws";
import { SANDBOX_API, type SandboxResource } from "../src/guest-pod.ts";

export const NODE_NAME = "test-node";
const FOREGROUND = "foregroundDeletion";
/** In place of a pod's memory limit; V8 needs about this much address space. */
const DATA_BYTES = 2 * 1024 * 1024 * 1024;
const SYSTEM = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib64",
  "/etc/ld.so.cache",
  "/etc/hosts",
  "/etc/nsswitch.conf",
];
const merging = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);

interface RunningPod {
  spec: V1PodSpec;
  processes: Set<ChildProcess>;
}

/** The differences of a test's node from a healthy one. */
export interface NodeFaults {
  /** Why its pods do not start. */
  waiting?: { reason: string; message: string } | undefined;
}

/**
 * A test's node and controller in one: makes a pod of each Sandbox as the controller of agent-sandbox does, and executes
 * commands in it as a kubelet does, by the websocket protocol v5, as processes with a root folder of their own.
 */
export class TestNode {
  readonly faults: NodeFaults = {};
  readonly pods = new Map<string, RunningPod>();
  /** Subprotocols that clients asked for and got. */
  readonly protocols: string[] = [];
  readonly #config: KubeConfig;
  readonly #objects: CustomObjectsApi;
  readonly #core: CoreV1Api;
  readonly #namespace: string;
  /** Folders that stand for volumes, by claim. */
  readonly #volumes: Readonly<Record<string, string>>;
  readonly #denoFile: string;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (asked) => (asked.has("v5.channel.k8s.io") ? "v5.channel.k8s.io" : false),
  });
  #watch: AbortController | undefined;
  #isClosed = false;
  #work: Promise<unknown> = Promise.resolve();
  readonly #seen = new Map<string, "starting" | "ending">();

  constructor(
    config: KubeConfig,
    {
      namespace,
      volumes,
      denoFile,
    }: { namespace: string; volumes: Record<string, string>; denoFile: string },
  ) {
    this.#config = config;
    this.#objects = config.makeApiClient(CustomObjectsApi);
    this.#core = config.makeApiClient(CoreV1Api);
    this.#namespace = namespace;
    this.#volumes = volumes;
    this.#denoFile = denoFile;
  }

  /** Follows the sandboxes of the namespace. */
  async start(): Promise<this> {
    const listed = (await this.#objects.listNamespacedCustomObject(this.#in)) as {
      items: SandboxResource[];
      metadata: { resourceVersion: string };
    };
    for (const item of listed.items) this.#see(item);
    await this.#follow(listed.metadata.resourceVersion);
    return this;
  }

  async #follow(resourceVersion: string): Promise<void> {
    const path = `/apis/${SANDBOX_API.group}/${SANDBOX_API.version}/namespaces/${this.#namespace}/sandboxes`;
    const on = (_: string, resource: SandboxResource) => this.#see(resource);
    this.#watch = await new Watch(this.#config).watch(path, { resourceVersion }, on, () => {
      if (!this.#isClosed) void this.start();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch?.abort();
    for (const name of this.pods.keys()) this.crash(name);
    await this.#work.catch(() => {});
    this.#sockets.close();
  }

  /** Ends a pod's processes without a word to the cluster. */
  crash(name: string): void {
    for (const child of this.pods.get(name)?.processes ?? []) kill(child);
  }

  get #in() {
    return { ...SANDBOX_API, namespace: this.#namespace };
  }

  #see(resource: SandboxResource): void {
    const { name = "", deletionTimestamp, finalizers = [] } = resource.metadata;
    const state = this.#seen.get(name);
    if (deletionTimestamp !== undefined && finalizers.includes(FOREGROUND) && state !== "ending") {
      this.#seen.set(name, "ending");
      this.#do(() => this.#endPod(name));
    } else if (deletionTimestamp === undefined && state === undefined) {
      this.#seen.set(name, "starting");
      this.#do(() => this.#startPod(resource));
    }
  }

  #do(step: () => Promise<void>): void {
    const done = step().catch((error: unknown) => {
      if (!this.#isClosed) throw error;
    });
    this.#work = Promise.all([this.#work, done]);
  }

  async #startPod({ metadata, spec }: SandboxResource): Promise<void> {
    const { name = "" } = metadata;
    // oxlint-disable-next-line typescript/no-misused-spread -- plain JSON in the type of a class.
    const pod = { ...spec.podTemplate.spec, nodeName: NODE_NAME };
    const labels = { ...spec.podTemplate.metadata?.labels };
    await this.#core.createNamespacedPod({
      namespace: this.#namespace,
      body: {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: this.#namespace, labels },
        spec: pod,
      },
    });
    this.#endAt(name, spec.shutdownTime);
    const { waiting } = this.faults;
    const status = waiting
      ? {
          phase: "Pending",
          containerStatuses: pod.containers.map((one) => containerStatus(one, { waiting })),
        }
      : { phase: "Running" };
    await this.#core.patchNamespacedPodStatus(
      { namespace: this.#namespace, name, body: { status } },
      merging,
    );
    if (waiting !== undefined) return;
    this.pods.set(name, { spec: pod, processes: new Set() });
    const condition = {
      type: "Ready",
      status: "True",
      reason: "DependenciesReady",
      message: "",
      lastTransitionTime: new Date().toISOString(),
    };
    const body = { status: { conditions: [condition], nodeName: NODE_NAME } };
    await this.#objects.patchNamespacedCustomObjectStatus({ ...this.#in, name, body }, merging);
  }

  #endAt(name: string, time: string): void {
    // oxlint-disable-next-line typescript/no-misused-promises -- it handles its own errors.
    const check = setInterval(async () => {
      const found = await this.#objects
        .getNamespacedCustomObject({ ...this.#in, name })
        .catch(() => undefined);
      const until = Date.parse((found as SandboxResource | undefined)?.spec.shutdownTime ?? time);
      if (found !== undefined && Date.now() < until && !this.#isClosed) return;
      clearInterval(check);
      if (found === undefined || this.#isClosed) return;
      await this.#objects
        .deleteNamespacedCustomObject({ ...this.#in, name, body: { propagationPolicy: "Foreground" } })
        .catch(() => {});
    }, 500).unref();
  }

  /** As the garbage collector does for a deletion in the foreground. */
  async #endPod(name: string): Promise<void> {
    const running = this.pods.get(name);
    const gone = [...(running?.processes ?? [])].map(
      (child) => new Promise((resolve) => child.once("close", resolve)),
    );
    this.crash(name);
    await Promise.all(gone);
    this.pods.delete(name);
    const pod = { namespace: this.#namespace, name, gracePeriodSeconds: 0 };
    await this.#core.deleteNamespacedPod(pod).catch(() => {});
    const body = { metadata: { finalizers: null } };
    await this.#objects.patchNamespacedCustomObject({ ...this.#in, name, body }, merging).catch(() => {});
  }

  /** Takes a websocket to a command: `/exec/NAMESPACE/POD/CONTAINER` of a kubelet, or the API server's own path. */
  exec(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? "", "http://node");
    const [, name = ""] =
      /^\/exec\/[^/]+\/([^/]+)\//.exec(url.pathname) ?? /\/pods\/([^/]+)\/exec$/.exec(url.pathname) ?? [];
    const pod = this.pods.get(name);
    if (pod === undefined) return void socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    this.#sockets.handleUpgrade(request, socket, head, (connection) => {
      this.protocols.push(connection.protocol);
      this.#run(pod, url.searchParams.getAll("command"), connection);
    });
  }

  /** Serves as a kubelet for a real API server. */
  async listenAsKubelet(certificate: { key: string; cert: string }): Promise<number> {
    const server = createServer(certificate);
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.exec(request, socket, head),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    server.unref();
    return (server.address() as AddressInfo).port;
  }

  #run({ spec, processes }: RunningPod, command: string[], connection: WebSocket): void {
    const child = spawn("prlimit", [`--data=${DATA_BYTES}`, "bwrap", ...this.#rootOf(spec), ...command], {
      stdio: "pipe",
      env: { PATH: "/usr/bin:/bin" },
      detached: true,
    });
    processes.add(child);
    const send = (channel: number, data: Buffer) =>
      connection.readyState === connection.OPEN && connection.send(Buffer.concat([Buffer.of(channel), data]));
    child.stdout.on("data", (data: Buffer) => send(1, data));
    child.stderr.on("data", (data: Buffer) => send(2, data));
    child.stdin.on("error", () => {});
    child.once("close", (code, signal) => {
      processes.delete(child);
      const exitCode = code ?? (signal === "SIGKILL" ? 137 : 1);
      send(3, Buffer.from(JSON.stringify(statusOf(exitCode))));
      connection.close(1000);
    });
    connection.on("message", (data: Buffer) => {
      if (data[0] === 0) child.stdin.write(data.subarray(1));
      if (data[0] === 255 && data[1] === 0) child.stdin.end();
    });
    // A runtime does not end a command whose client has gone; its pod's end does.
    connection.on("error", () => {});
  }

  #rootOf({ containers: [container], volumes = [] }: V1PodSpec): string[] {
    const mounted = (container?.volumeMounts ?? []).flatMap(
      ({ name, subPath = "", mountPath, readOnly = false }) => {
        const claim = volumes.find((volume) => volume.name === name)?.persistentVolumeClaim?.claimName ?? "";
        const folder = this.#volumes[claim];
        return folder === undefined
          ? []
          : [readOnly ? "--ro-bind" : "--bind", join(folder, subPath), mountPath];
      },
    );
    return [
      "--unshare-user",
      "--unshare-pid",
      "--unshare-ipc",
      "--unshare-net",
      "--die-with-parent",
      "--uid",
      "1000",
      "--gid",
      "1000",
      ...SYSTEM.flatMap((path) => ["--ro-bind-try", path, path]),
      "--proc",
      "/proc",
      "--dev",
      "/dev",
      "--tmpfs",
      "/tmp",
      "--ro-bind",
      this.#denoFile,
      "/cem/deno",
      "--ro-bind",
      dirname(guestBootFile),
      "/cem/guest",
      ...mounted,
      "--",
    ];
  }
}

/** The boot id of this host, which is that of the test's node. */
export function hostBootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

function containerStatus({ name, image = "" }: V1Container, state: object) {
  return { name, image, imageID: "", ready: false, restartCount: 0, state };
}

function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function statusOf(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    reason: "NonZeroExitCode",
    message: `command terminated with non-zero exit code: ${exitCode}`,
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}
