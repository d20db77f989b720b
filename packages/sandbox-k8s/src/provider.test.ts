import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster, type TestCluster } from "../test/cluster.ts";
import { createKubernetesProvider } from "./index.ts";

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

describe("createKubernetesProvider", () => {
  it("runs code in a pod, with the workspace's files in and out, and leaves nothing behind", async () => {
    const provider = createKubernetesProvider({ ...cluster.settings, standby: 0 });
    const probe = await provider.probe();
    expect(probe).toMatchObject({ available: true, isolation: { level: "namespaces" } });
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
});
