import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  ApiextensionsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  NodeV1Api,
  PatchStrategy,
  setHeaderOptions,
  type V1PodSpec,
} from "@kubernetes/client-node";
import type { KubernetesSettings } from "../src/provider-settings.ts";
import { SANDBOX_API, TEMPLATE_API } from "../src/guest-pod.ts";
import { TestApiServer } from "./api-server.ts";
import { hostBootId, NODE_NAME, TestNode } from "./node.ts";

const CLAIM = "cem-data";
const merging = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
const denoPackage = createRequire(new URL("../../sandbox-msb/package.json", import.meta.url)).resolve(
  `@deno/linux-${process.arch}-glibc/package.json`,
);

/** The pod of the test's SandboxTemplate, as the chart makes it. */
const GUEST_POD: V1PodSpec = {
  securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
  containers: [
    {
      name: "guest",
      image: "code-execution-mcp:test",
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      },
    },
  ],
};

/** A cluster of one node for tests, with a volume that is a folder. */
export interface TestCluster {
  settings: KubernetesSettings;
  node: TestNode;
  /** Absent where the API server is a real one. */
  server: TestApiServer | undefined;
  config: KubeConfig;
  namespace: string;
  sandboxes(): Promise<
    { metadata: { name: string; deletionTimestamp?: string }; spec: { shutdownTime: string } }[]
  >;
  close(): Promise<void>;
}

/**
 * Starts a cluster, on the API server whose kubeconfig `CEM_TEST_KUBECONFIG` names, else on one of the test's own.
 *
 * @param pod - What the template's pod differs in.
 */
export async function startCluster(pod: Partial<V1PodSpec> = {}): Promise<TestCluster> {
  const folder = mkdtempSync(join(tmpdir(), "cem-cluster-"));
  const volume = process.env["TMPDIR"] ?? tmpdir();
  const real = process.env["CEM_TEST_KUBECONFIG"];
  const namespace = `cem-test-${crypto.randomUUID().slice(0, 8)}`;
  const config = new KubeConfig();
  const server = real === undefined ? new TestApiServer() : undefined;
  let node: TestNode | undefined;
  await server?.listen((request, socket, head) => node?.exec(request, socket, head));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(
    kubeconfig,
    server === undefined ? readFileSync(real ?? "", "utf8") : kubeconfigOf(server, namespace),
  );
  config.loadFromFile(kubeconfig);
  node = new TestNode(config, {
    namespace,
    volumes: { [CLAIM]: volume },
    denoFile: join(dirname(denoPackage), "deno"),
  });
  const port = real === undefined ? 0 : await node.listenAsKubelet(makeCertificate(folder));
  // oxlint-disable-next-line typescript/no-misused-spread -- plain JSON in the type of a class.
  await seed(config, namespace, { ...GUEST_POD, ...pod }, port, server);
  await node.start();
  const objects = config.makeApiClient(CustomObjectsApi);
  return {
    settings: { kubeconfig, namespace, volume: { claim: CLAIM, root: volume }, startTimeoutMs: 60_000 },
    node,
    server,
    config,
    namespace,
    sandboxes: async () =>
      ((await objects.listNamespacedCustomObject({ ...SANDBOX_API, namespace })) as { items: [] }).items,
    async close() {
      await node.close();
      await server?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function seed(
  config: KubeConfig,
  namespace: string,
  spec: V1PodSpec,
  kubeletPort: number,
  server: TestApiServer | undefined,
): Promise<void> {
  const core = config.makeApiClient(CoreV1Api);
  const nodeInfo = { bootID: hostBootId() };
  const handlers = { kata: "kata-qemu", gvisor: "runsc" };
  if (server !== undefined) {
    server.objects.put("/nodes", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: NODE_NAME },
      status: { nodeInfo },
    });
    for (const [name, handler] of Object.entries(handlers))
      server.objects.put("/runtimeclasses", {
        apiVersion: "node.k8s.io/v1",
        kind: "RuntimeClass",
        metadata: { name },
        handler,
      });
  } else {
    await core.createNamespace({ body: { metadata: { name: namespace } } });
    await core.createNode({ body: { metadata: { name: NODE_NAME } } }).catch(() => {});
    const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
    const all = {
      machineID: "",
      systemUUID: "",
      kernelVersion: "",
      osImage: "",
      containerRuntimeVersion: "",
      kubeletVersion: "v1.0.0",
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: "amd64",
    };
    const status = {
      addresses,
      daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
      nodeInfo: { ...all, ...nodeInfo },
    };
    await core.patchNodeStatus({ name: NODE_NAME, body: { status } }, merging);
    const classes = config.makeApiClient(NodeV1Api);
    for (const [name, handler] of Object.entries(handlers))
      await classes.createRuntimeClass({ body: { metadata: { name }, handler } }).catch(() => {});
    await define(config, SANDBOX_API.group, "Sandbox", "sandboxes");
    await define(config, TEMPLATE_API.group, "SandboxTemplate", "sandboxtemplates");
  }
  const body = {
    apiVersion: `${TEMPLATE_API.group}/${TEMPLATE_API.version}`,
    kind: "SandboxTemplate",
    metadata: { name: "cem-guest", namespace },
    spec: { podTemplate: { spec } },
  };
  await config
    .makeApiClient(CustomObjectsApi)
    .createNamespacedCustomObject({ ...TEMPLATE_API, namespace, body });
}

/** Defines a custom resource; what is in its objects is left to the schemas of `known-fields.ts`. */
async function define(config: KubeConfig, group: string, kind: string, plural: string): Promise<void> {
  const api = config.makeApiClient(ApiextensionsV1Api);
  const open = { type: "object", x_kubernetes_preserve_unknown_fields: true };
  const properties = {
    spec: { ...open, properties: { shutdownTime: { type: "string", format: "date-time" } } },
    status: open,
  };
  const schema = { openAPIV3Schema: { type: "object", properties } };
  const version = { name: "v1beta1", served: true, storage: true, schema, subresources: { status: {} } };
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  const spec = { group, names, scope: "Namespaced", versions: [version] };
  const name = `${plural}.${group}`;
  const annotations = { "api-approved.kubernetes.io": "unapproved, for a test" };
  await api
    .createCustomResourceDefinition({ body: { metadata: { name, annotations }, spec } })
    .catch(() => {});
  for (;;) {
    const { status } = await api.readCustomResourceDefinition({ name });
    if (status?.conditions?.some(({ type, status: value }) => type === "Established" && value === "True"))
      break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function kubeconfigOf({ url, token }: TestApiServer, namespace: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "test", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test", namespace } }],
    "current-context": "test",
  });
}

function makeCertificate(folder: string): { key: string; cert: string } {
  const [key, cert] = [join(folder, "kubelet.key"), join(folder, "kubelet.crt")];
  mkdirSync(folder, { recursive: true });
  const subject = ["-subj", "/CN=kubelet", "-days", "2"];
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject],
    { stdio: "ignore" },
  );
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
}
