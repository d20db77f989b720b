import { request } from "node:http";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { configJsonSchema, SETTINGS } from "../../../packages/config/src/index.ts";
import { loadConfig } from "code-execution-mcp";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { findProblems } from "../../../packages/sandbox-k8s/test/known-fields.ts";
import { startRedis } from "../../../packages/store/test/redis-server.ts";
import { isInstalled } from "../../../vitest.tools.ts";
import { hasHelm, helm, render, type Manifest } from "../test/helm.ts";
import { findUnrestricted } from "../test/pod-security.ts";
import { start } from "../test/server-process.ts";

const STORE = { store: { url: "postgres://postgres/cem" } };
const QUEUE = { queue: { url: "redis://valkey:6379/0" }, ...STORE };
const KEDA = { type: "keda", keda: { address: "valkey:6379", passwordSecret: { name: "valkey" } } };
const PODS = {
  mode: "pods",
  pods: { runtimeClassName: "kata", minIsolation: "microvm", userNamespace: true },
};
const OUTSIDE = {
  ingress: { enabled: true, className: "nginx", host: "cem.example.com", tlsSecret: "cem-tls" },
  monitoring: { enabled: true, labels: { release: "prometheus" } },
  networkPolicy: {
    hosts: [
      { host: "*.example.com", port: 443 },
      { host: "valkey.internal", port: 6379 },
    ],
  },
};
const VALUES: [string, object][] = [
  ["as it comes", QUEUE],
  [
    "with all references",
    {
      queue: { urlSecret: { name: "redis" } },
      store: { urlSecret: { name: "postgres" } },
      imagePullSecrets: [{ name: "registry" }],
      persistence: { existingClaim: "files" },
      podLabels: { team: "agents" },
      podAnnotations: { note: "one" },
      serviceAccount: { annotations: { role: "arn" } },
      server: {
        extraEnv: [{ name: "LLM_API_KEY", valueFrom: { secretKeyRef: { name: "llm", key: "key" } } }],
        nodeSelector: { pool: "web" },
      },
      worker: { tolerations: [{ key: "cem", operator: "Exists" }], affinity: { podAntiAffinity: {} } },
      config: { guardrails: { max_execution_time: 60 }, queue: { prefix: "{agents}" } },
    },
  ],
  ["scaled by KEDA", { ...QUEUE, worker: { autoscaling: KEDA } }],
  ["scaled by an external metric", { ...QUEUE, worker: { autoscaling: { type: "hpa" } } }],
  ["with Deno's permissions", { ...QUEUE, sandbox: { mode: "permissions" } }],
  [
    "with bubblewrap and a profile of one's own",
    { ...QUEUE, sandbox: { mode: "namespaces", namespaces: { localhostProfile: "own.json" } } },
  ],
  ["reached by TLS, watched and held to hosts", { ...QUEUE, ...OUTSIDE }],
  ["with guests in pods", { ...QUEUE, sandbox: PODS }],
  [
    "with nothing shared but the queue",
    { ...QUEUE, persistence: { enabled: false }, networkPolicy: { enabled: false } },
  ],
];

/** The problems of a manifest by the API's schemas: unknown fields by one set of them, the rest by another. */
async function problemsOf(manifest: Manifest): Promise<string[]> {
  const { apiVersion, kind } = manifest;
  const isOfKeda = apiVersion.startsWith("keda.sh/");
  if (/^(?:monitoring\.coreos\.com|cilium\.io)/.test(apiVersion)) return [];
  const problems = isOfKeda ? [] : findProblems(manifest);
  if (apiVersion.includes("agents.x-k8s.io")) return problems;
  const models = isOfKeda ? "@kubernetes-models/keda" : "kubernetes-models";
  const model = (await import(`${models}/${apiVersion}/${kind}`)) as Record<
    string,
    new (data: object) => { validate(): void }
  >;
  try {
    const Model = model[kind];
    if (Model === undefined) return [...problems, `no schema for ${kind}`];
    new Model(manifest).validate();
  } catch (error) {
    problems.push(`${kind}: ${String(error)}`);
  }
  return problems;
}

function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name.endsWith(name));
  if (found === undefined) throw new Error(`There is no ${kind} ${name}.`);
  return found;
}

/** The specifications of all pods that the manifests ask for. */
function podsOf(manifests: readonly Manifest[]) {
  return manifests.flatMap(({ kind, spec }) => {
    if (kind === "Deployment") return [spec.template.spec];
    return kind === "SandboxTemplate" ? [spec.podTemplate.spec] : [];
  });
}

describe.runIf(hasHelm)("the Helm chart", () => {
  it.each(VALUES)("renders manifests that the schemas of Kubernetes know, %s", async (_, values) => {
    const manifests = render(values);
    expect(manifests.length).toBeGreaterThan(5);
    expect((await Promise.all(manifests.map(problemsOf))).flat()).toEqual([]);
  });

  it.each(VALUES)("has no pod that may write to its root, gain rights or stay root, %s", (name, values) => {
    for (const pod of podsOf(render(values))) {
      const forbidden = findUnrestricted(pod).map((what) => what.replace(/^\w+: /, ""));
      // Only in a user namespace of its own.
      const isUnmasked = pod.hostUsers === false && name !== "with guests in pods";
      expect(forbidden).toEqual(isUnmasked ? ["procMount"] : []);
      for (const { securityContext } of pod.containers)
        expect(securityContext.readOnlyRootFilesystem).toBe(true);
      expect(pod.securityContext.runAsUser).toBe(1000);
    }
  });

  it("has tests that would see a mistake", async () => {
    const deployment = find(render(QUEUE), "Deployment", "-worker");
    const { spec } = structuredClone(deployment);
    spec.template.spec.containers[0].securityContext.readonlyRootFilesystem = true;
    delete spec.selector;
    const problems = await problemsOf({ ...deployment, spec });
    expect(problems.join()).toMatch(/unknown field .*readonlyRootFilesystem.*selector/s);
    spec.template.spec.hostPID = true;
    expect(findUnrestricted(spec.template.spec)).toEqual(["hostPID", "worker: procMount"]);
  });

  it("makes namespaces for programs where the cluster can, with the profile that it takes, else not", () => {
    const specOf = (values: object, ...flags: string[]) => {
      const { status, stdout, stderr } = helm("template", values, ...flags);
      expect([status, stderr]).toEqual([0, ""]);
      const manifests = parseAllDocuments(stdout).map((one) => one.toJS() as Manifest | null);
      const own = manifests.filter((one) => one !== null);
      const { spec } = find(own, "Deployment", "-worker");
      const { hostUsers, securityContext } = spec.template.spec;
      const installs = own.filter(({ kind }) => kind === "DaemonSet").length;
      const config = find(own, "ConfigMap", "code-execution-mcp").data?.["config.yaml"] ?? "";
      const { min_isolation: floor } = parse(config).execution;
      return { hostUsers, profile: securityContext.seccompProfile, installs, floor };
    };
    const localhost = (file: string) => ({ type: "Localhost", localhostProfile: file });
    const profile = localhost("cem-code-execution-mcp.json");
    expect(specOf(QUEUE, "--kube-version=1.34")).toEqual({
      hostUsers: false,
      profile,
      installs: 1,
      floor: "permissions",
    });
    expect(specOf(QUEUE, "--kube-version=1.32")).toMatchObject({
      hostUsers: undefined,
      profile: { type: "RuntimeDefault" },
      installs: 0,
    });
    const own = { mode: "namespaces", namespaces: { localhostProfile: "own.json" } };
    expect(specOf({ ...QUEUE, sandbox: own })).toMatchObject({
      profile: localhost("own.json"),
      installs: 0,
      floor: "namespaces",
    });
    const { data } = find(render({ ...QUEUE, sandbox: { mode: "namespaces" } }), "ConfigMap", "-seccomp");
    const { syscalls } = JSON.parse(data?.["profile.json"] ?? "") as { syscalls: { names: string[] }[] };
    const denied = syscalls.flatMap(({ names }) => names);
    expect(denied).toEqual(expect.arrayContaining(["bpf", "ptrace", "kexec_load", "io_uring_setup"]));
    for (const needed of ["unshare", "mount", "pivot_root", "clone"]) expect(denied).not.toContain(needed);
  });

  it("is reached by TLS alone, watched with the token, and held to hosts by Cilium", () => {
    const manifests = render({ ...QUEUE, ...OUTSIDE });
    const { tls, rules } = find(manifests, "Ingress", "code-execution-mcp").spec;
    expect(tls).toEqual([{ hosts: ["cem.example.com"], secretName: "cem-tls" }]);
    expect(rules[0].host).toBe("cem.example.com");
    const [endpoint] = find(manifests, "ServiceMonitor", "-server").spec.endpoints;
    expect(endpoint).toMatchObject({
      port: "http",
      authorization: { credentials: { name: "cem-server", key: "token" } },
    });
    const { selector } = find(manifests, "PodMonitor", "-worker").spec;
    const worker = find(manifests, "Deployment", "-worker").spec.template.metadata.labels;
    expect(worker).toMatchObject(selector.matchLabels);
    const { egress } = find(manifests, "CiliumNetworkPolicy", "-hosts").spec;
    expect(egress.slice(1).map((rule: { toFQDNs: object[] }) => rule.toFQDNs)).toEqual([
      [{ matchPattern: "*.example.com" }],
      [{ matchName: "valkey.internal" }],
    ]);
    // No rule that lets out to anywhere is left beside it.
    expect(find(manifests, "NetworkPolicy", "-egress").spec.egress).toHaveLength(1);
    for (const lacks of [{ host: "" }, { tlsSecret: "" }])
      expect(() => render({ ...QUEUE, ingress: { ...OUTSIDE.ingress, ...lacks } })).toThrow(/Set ingress\./);
  });

  it("has the version of the packages, or the first one before there is any", () => {
    const read = (file: string) => readFileSync(path.join(import.meta.dirname, file), "utf8");
    const { version } = parse(read("../../../packages/code-execution-mcp/package.json")) as {
      version: string;
    };
    const released = version === "0.0.0" ? "0.1.0" : version;
    expect(parse(read("../chart/Chart.yaml"))).toMatchObject({ version: released, appVersion: released });
    expect(read("../Dockerfile")).toContain(`LABEL org.opencontainers.image.version="${released}"`);
  });

  it("gives the server's configuration, which its loader takes as it is", async () => {
    for (const [, values] of VALUES) {
      const folder = mkdtempSync(path.join(os.tmpdir(), "cem-chart-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const manifests = render(values);
      const text = find(manifests, "ConfigMap", "code-execution-mcp").data?.["config.yaml"] ?? "";
      writeFileSync(path.join(folder, "config.yaml"), text);
      const { config } = await loadConfig({ cwd: folder, env: { CEM_TRUST_FOLDER: "1" } });
      const claim = find(manifests, "Deployment", "-worker").spec.template.spec.volumes.find(
        ({ name }: { name: string }) => name === "files",
      ).persistentVolumeClaim?.claimName;
      expect(config.execution.workspaceDir).toBe("/files/workspace");
      expect(config.queue.concurrency).toBe(4);
      const { sandboxType, kubernetes } = config.execution;
      const templates = manifests.filter(({ kind }) => kind === "SandboxTemplate");
      const isOfPods = sandboxType === "kubernetes";
      expect(templates.map(({ metadata }) => metadata.name)).toEqual(isOfPods ? [kubernetes.template] : []);
      expect([kubernetes.volumeClaim, kubernetes.volumeRoot]).toEqual([
        isOfPods ? claim : undefined,
        "/files",
      ]);
    }
  });

  it.runIf(isInstalled("redis-server"))(
    "has a server that is reached by the names it has in the cluster, and watched by its address",
    async () => {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const values = { ...QUEUE, ...OUTSIDE, config: { server: { allowed_hosts: ["own.example"] } } };
      const text = find(render(values), "ConfigMap", "code-execution-mcp").data?.["config.yaml"] ?? "";
      const token = "a-token-for-this-test-only";
      const env = { CEM_SERVER_HOST: "0.0.0.0", CEM_SERVER_TOKEN: token, CEM_QUEUE_URL: redis.url };
      const { log } = start({ ...env, CEM_TRUST_FOLDER: "1" }, (folder) => text.replaceAll("/files", folder));
      await expect.poll(log).toContain("listening on every address");
      const port = /localhost:(\d+)\/mcp/.exec(log())?.[1];
      const ask = (route: string, host: string) => {
        const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
        const headers = { host, authorization: `Bearer ${token}` };
        request({ host: "127.0.0.1", port, path: route, headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        })
          .on("error", reject)
          .end();
        return promise;
      };
      const [, noted = ""] =
        /inside of the cluster: http:\/\/(\S+)\/mcp/.exec(helm("install", values).stdout) ?? [];
      const service = "cem-code-execution-mcp.agents";
      expect(noted).toBe(`${service}:80`);
      const hosts = [noted, service, `${service}.svc.cluster.local`, "cem.example.com", "own.example"];
      for (const host of hosts) expect([host, await ask("/nothing", host)]).toEqual([host, 404]);
      expect(await ask("/nothing", "evil.example")).toBe(403);
      expect(await ask("/metrics", "10.42.0.7:3000")).toBe(200);
    },
  );

  it("has the configuration where the image starts, in the folder that is trusted and can be written", () => {
    const image = readFileSync(path.join(import.meta.dirname, "../Dockerfile"), "utf8");
    const [project] = /(?<=^WORKDIR )\/data$/mu.exec(image) ?? [];
    for (const [, values] of VALUES) {
      for (const name of ["-server", "-worker"]) {
        const pod = find(render(values), "Deployment", name).spec.template.spec;
        const { env, volumeMounts } = pod.containers[0];
        const variable = (wanted: string) => env.find((one: { name: string }) => one.name === wanted)?.value;
        const mount = (wanted: string) =>
          volumeMounts.find((one: { name: string }) => one.name === wanted)?.mountPath;
        expect([variable("CEM_CONFIG"), variable("CEM_TRUST_FOLDER")]).toEqual([undefined, project]);
        expect([mount("config"), mount("data")]).toEqual([`${project}/config.yaml`, project]);
      }
    }
  });

  it("refuses values that it does not know, passwords in URLs, and what can't work", () => {
    const refused: [object, RegExp][] = [
      [{ ...QUEUE, wrker: {} }, /additional properties 'wrker'/],
      [{ queue: { url: "redis://:secret@valkey:6379" } }, /\/queue\/url/],
      [{ ...QUEUE, store: { url: "postgres://cem:secret@db/cem" } }, /\/store\/url/],
      [{ ...QUEUE, sandbox: { mode: "vm" } }, /\/sandbox\/mode/],
      [STORE, /queue\.urlSecret/],
      [{ queue: QUEUE.queue }, /store\.urlSecret.*server\.replicas=1/],
      [
        { ...QUEUE, sandbox: { mode: "pods" }, persistence: { enabled: false } },
        /needs persistence\.enabled/,
      ],
      [{ ...QUEUE, worker: { autoscaling: { type: "keda" } } }, /keda\.address/],
    ];
    for (const [values, message] of refused) expect(() => render(values)).toThrow(message);
    // The chart's own values, and Secrets: what is in the ConfigMap can be read by many.
    const secrets = SETTINGS.filter(({ secret, keys }) => secret && keys.length === 2);
    for (const setting of [...secrets.map(({ path: name }) => name), "queue.url", "store.url"]) {
      const [section = "", key = ""] = setting.split(".");
      const values = { ...QUEUE, config: { [section]: { [key]: "sixteen-characters" } } };
      expect(() => render(values)).toThrow(new RegExp(`Set .* instead of config\\.${setting}`));
    }
    expect(() => render({ ...QUEUE, config: { nonsense: 1 } })).toThrow(/'nonsense' not allowed/);
    const { properties } = configJsonSchema() as { properties: object };
    const schema = JSON.parse(
      readFileSync(path.join(import.meta.dirname, "../chart/values.schema.json"), "utf8"),
    );
    expect(Object.keys(schema.properties.config.properties)).toEqual(Object.keys(properties).toSorted());
    expect(helm("lint", QUEUE)).toMatchObject({ status: 0 });
  });

  it("lets runs finish in the time that Kubernetes gives a worker", () => {
    const drainOf = (values: object): unknown =>
      parse(find(render(values), "ConfigMap", "code-execution-mcp").data?.["config.yaml"] ?? "").queue
        .drain_grace;
    expect(drainOf(QUEUE)).toBe(290);
    expect(drainOf({ ...QUEUE, worker: { terminationGracePeriodSeconds: 5 } })).toBe(0);
    expect(drainOf({ ...QUEUE, config: { queue: { drain_grace: 60 } } })).toBe(60);
  });

  it("leaves the image's init in its place, which reaps what guests leave", () => {
    for (const { containers } of podsOf(render(QUEUE))) {
      expect(containers[0]).not.toHaveProperty("command");
      expect(containers[0].args[0]).toBe("node");
    }
  });

  it("needs no store for a single server", () => {
    expect(() => render({ queue: QUEUE.queue, server: { replicas: 1 } })).not.toThrow();
  });

  it("warns of files that are lost with their pod, unless the store has them", () => {
    const notes = (values: object): string => helm("install", values).stdout;
    const lost = { ...QUEUE, persistence: { enabled: false } };
    expect(notes(lost)).toMatch(/WARNING: .*store\.files is not set/);
    for (const kept of [QUEUE, { ...lost, config: { store: { files: "s3://bucket/files" } } }])
      expect(notes(kept)).toMatch(/MCP inside of the cluster(?!.*store\.files is not set)/s);
    expect(notes(QUEUE)).not.toContain("WARNING");
  });

  it("keeps secrets in Secrets of the user", () => {
    for (const [, values] of VALUES) {
      const manifests = render(values);
      expect(manifests.map(({ kind }) => kind)).not.toContain("Secret");
      for (const pod of podsOf(manifests)) {
        const env: { name: string; value?: string }[] = pod.containers[0].env ?? [];
        const secrets = env.filter(({ name }) => /TOKEN|KEYS?$|PASSWORD/.test(name));
        expect(secrets.map(({ value }) => value).filter((value) => value !== undefined)).toEqual([]);
      }
    }
  });

  it("denies all traffic of all its pods, and lets guests out only where code may use the network", () => {
    const manifests = render({ ...QUEUE, sandbox: PODS });
    const deny = find(manifests, "NetworkPolicy", "-deny").spec;
    expect(deny).toMatchObject({ policyTypes: ["Ingress", "Egress"] });
    expect(deny).not.toHaveProperty("ingress");
    expect(deny).not.toHaveProperty("egress");
    const selected = Object.entries<string>(deny.podSelector.matchLabels);
    const labels = manifests.flatMap(({ kind, spec }) =>
      kind === "Deployment"
        ? [spec.template.metadata.labels]
        : kind === "SandboxTemplate"
          ? [spec.podTemplate.metadata.labels]
          : [],
    );
    expect(labels).toHaveLength(3);
    for (const own of labels) for (const [key, value] of selected) expect(own[key]).toBe(value);
    const allow = find(manifests, "NetworkPolicy", "-guest").spec;
    expect(allow.podSelector.matchLabels).toMatchObject({ "cem/network": "allowed" });
    expect(allow.egress.at(-1).to[0].ipBlock.except).toEqual(
      expect.arrayContaining(["169.254.0.0/16", "192.0.0.0/24", "198.18.0.0/15", "224.0.0.0/3"]),
    );
  });

  it("gives no rights in the cluster but those that guests in pods need", () => {
    const kinds = (values: object) => render(values).map(({ kind }) => kind);
    expect(kinds(QUEUE).filter((kind) => kind.includes("Role"))).toEqual([]);
    const manifests = render({ ...QUEUE, sandbox: PODS });
    for (const { rules } of manifests.filter(({ kind }) => kind.endsWith("Role")))
      expect(JSON.stringify(rules)).not.toMatch(/"\*"|secrets|pods\/attach|"update"/);
    const tokens = (all: Manifest[]) => podsOf(all).map((pod) => pod.automountServiceAccountToken);
    expect(tokens(render(QUEUE))).toEqual([false, false]);
    expect(tokens(manifests)).toEqual(expect.arrayContaining([false, true, true]));
  });

  it("gives a worker longer to finish than a program may take, and a server longer than its grace", () => {
    const values = parse(readFileSync(path.join(import.meta.dirname, "../chart/values.yaml"), "utf8"));
    expect(values.worker.terminationGracePeriodSeconds).toBeGreaterThan(30);
    const server = find(render(QUEUE), "Deployment", "-server").spec.template.spec;
    // The preStop's 5 s and server.shutdown_grace's 10 s.
    expect(server.terminationGracePeriodSeconds).toBeGreaterThan(15);
  });

  it("counts the runs where the queue keeps those that wait and those under way", () => {
    const { triggers, advanced } = find(
      render({ ...QUEUE, worker: { autoscaling: KEDA } }),
      "ScaledObject",
      "-worker",
    ).spec;
    const lists = (triggers as { name: string; metadata: { listName: string } }[]).map(
      ({ name, metadata }) => [name, metadata.listName],
    );
    expect(Object.fromEntries(lists)).toEqual({
      waiting: "{cem}:runs:waiting",
      active: "{cem}:runs:active",
    });
    expect(advanced.scalingModifiers.formula).toBe("waiting + active");
  });
});
