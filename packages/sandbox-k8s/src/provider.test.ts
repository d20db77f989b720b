import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startCluster, type TestCluster } from "../test/cluster.ts";
import { createKubernetesProvider } from "./index.ts";
import { describeWith } from "../../../vitest.tools.ts";

let cluster: TestCluster;
let workspaceDir: string;
beforeAll(async () => {
  cluster = await startCluster();
  workspaceDir = mkdtempSync(join(cluster.settings.volume.root, "cem-pod-"));
});
afterAll(async () => {
  rmSync(workspaceDir, { recursive: true, force: true });
  await cluster.close();
});

/** A cluster of its own for a test. */
async function another(...pod: Parameters<typeof startCluster>): Promise<TestCluster> {
  const started = await startCluster(...pod);
  onTestFinished(() => started.close());
  return started;
}

// The node of the test cluster holds its pods with bubblewrap.
describeWith("bubblewrap")("createKubernetesProvider", () => {
  it("runs code in a pod, with the workspace's files in and out, and leaves nothing behind", async () => {
    const provider = createKubernetesProvider({ ...cluster.settings, standby: 0 });
    const probe = await provider.probe();
    expect(probe).toMatchObject({
      available: true,
      isolation: { level: "namespaces", sandbox: "kubernetes" },
      notes: [],
    });
    writeFileSync(join(workspaceDir, "in.txt"), "from here");
    const sandbox = await provider.create({ workspaceDir });
    const code = `const text = await Deno.readTextFile("/workspace/in.txt");
await Deno.writeTextFile("/workspace/out.txt", text.toUpperCase());
return text.length;`;
    expect(await sandbox.run({ code })).toMatchObject({ status: "completed", value: 9 });
    expect(readFileSync(join(workspaceDir, "out.txt"), "utf8")).toBe("FROM HERE");
    await sandbox.dispose();
    expect(await cluster.sandboxes()).toEqual([]);
    expect(cluster.node.pods.size).toBe(0);
    expect(new Set(cluster.node.protocols)).toEqual(new Set(["v5.channel.k8s.io"]));
  });

  it("ends a program that takes too long, with its pod", async () => {
    const provider = createKubernetesProvider({ ...cluster.settings, standby: 0 });
    const sandbox = await provider.create({ workspaceDir, limits: { timeoutMs: 300 } });
    onTestFinished(() => sandbox.dispose());
    expect(await sandbox.run({ code: "while (true) {}" })).toMatchObject({ status: "timed-out" });
    await expect.poll(() => cluster.node.pods.size).toBe(0);
  });

  it("says that the guest has gone when its pod's processes end, and runs the next one", async () => {
    const provider = createKubernetesProvider({ ...cluster.settings, standby: 0 });
    const sandbox = await provider.create({ workspaceDir });
    onTestFinished(() => sandbox.dispose());
    const run = sandbox.run({
      code: "console.log('on'); await new Promise((resolve) => setTimeout(resolve, 60_000));",
      onOutput: () => {
        for (const name of cluster.node.pods.keys()) cluster.node.crash(name);
      },
    });
    expect((await run).status).not.toBe("completed");
    expect(await sandbox.run({ code: "return 1" })).toMatchObject({ status: "completed" });
  });

  it("refuses folders that are not on the shared volume", async () => {
    const provider = createKubernetesProvider(cluster.settings);
    const elsewhere = provider.create({ workspaceDir: "/usr" });
    await expect(elsewhere).rejects.toMatchObject({
      code: "SANDBOX_SPEC_INVALID",
      message: expect.stringContaining("/usr"),
    });
    const mounts = [{ hostPath: "/etc", guestPath: "/workspace/etc", readOnly: true }];
    await expect(provider.create({ workspaceDir, mounts })).rejects.toMatchObject({
      code: "SANDBOX_SPEC_INVALID",
    });
  });

  it("believes no runtime class: a pod of Kata that runs on its node's kernel is no machine", async () => {
    const kata = await another({ runtimeClassName: "kata" });
    const provider = createKubernetesProvider({ ...kata.settings, standby: 0 });
    expect(await provider.probe()).toMatchObject({
      isolation: { level: "namespaces" },
      notes: [expect.stringContaining("its node's kernel")],
    });
    const refused = provider.create({ workspaceDir, minIsolation: "microvm" });
    await expect(refused).rejects.toMatchObject({ code: "ISOLATION_TOO_WEAK" });
  });

  it("says why a pod does not start", async () => {
    const broken = await another();
    broken.node.faults.waiting = { reason: "ImagePullBackOff", message: "no such image" };
    const provider = createKubernetesProvider({ ...broken.settings, startTimeoutMs: 1_500 });
    expect(await provider.probe()).toMatchObject({
      available: false,
      reason: expect.stringMatching(/not ready within 1500 ms: ImagePullBackOff: no such image/),
    });
    await expect.poll(() => broken.sandboxes()).toEqual([]);
  });

  it("renews the lease of guests in use, so that only those of a process that is gone come to its end", async () => {
    const own = await another();
    const provider = createKubernetesProvider({ ...own.settings, standby: 0, leaseMs: 6_000 });
    const sandbox = await provider.create({ workspaceDir });
    onTestFinished(() => sandbox.dispose());
    const seen = new Set<string>();
    const look = async () => {
      for (const { spec } of await own.sandboxes()) seen.add(spec.shutdownTime);
      return seen.size;
    };
    const ended = new AbortController();
    const run = sandbox.run({
      code: "await new Promise((resolve) => setTimeout(resolve, 60_000));",
      signal: ended.signal,
    });
    await expect.poll(look).toBeGreaterThan(1);
    ended.abort();
    await run;
  });
});

describe.runIf(process.env["CEM_TEST_KUBECONFIG"] === undefined)("what the cluster refuses", () => {
  it.each([
    ["get sandboxtemplates", /read the SandboxTemplate cem-guest .* 403.*service account needs the role/s],
    ["create sandboxes", /create a Sandbox .* 403/s],
    ["create pods/exec", /execute a command/],
  ])("is said: %s", async (right, message) => {
    const closed = await another();
    closed.server?.forbids.add(right);
    const probe = await createKubernetesProvider(closed.settings).probe();
    expect(probe).toMatchObject({ available: false, reason: expect.stringMatching(message) });
    expect(await closed.sandboxes()).toEqual([]);
  });

  describeWith("bubblewrap")("of its nodes", () => {
    it("is a note where a node may not be read", async () => {
      const closed = await another({ runtimeClassName: "kata" });
      closed.server?.forbids.add("get nodes");
      expect(await createKubernetesProvider(closed.settings).probe()).toMatchObject({
        isolation: { level: "microvm" },
        notes: [expect.stringContaining("may not be read to check it")],
      });
    });
  });

  it("is said of a template that is not there, and of a server that is not there", async () => {
    const missing = createKubernetesProvider({ ...cluster.settings, template: "other" });
    expect(await missing.probe()).toMatchObject({
      reason: expect.stringMatching(/other.*404.*Install agent-sandbox/s),
    });
    const kubeconfig = join(workspaceDir, "kubeconfig");
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        clusters: [
          {
            name: "t",
            cluster: {
              server: "http://127.0.0.1:9",
              "insecure-skip-tls-verify": true,
            },
          },
        ],
        contexts: [{ name: "t", context: { cluster: "t", user: "t" } }],
        users: [{ name: "t", user: {} }],
        "current-context": "t",
      }),
    );
    const provider = createKubernetesProvider({ ...cluster.settings, kubeconfig });
    expect(await provider.probe()).toMatchObject({ reason: expect.stringContaining("can't be reached") });
  });
});
