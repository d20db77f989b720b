import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findProblems } from "../test/known-fields.ts";
import { guestPod, type GuestPodPlan } from "./guest-pod.ts";
import { judgeIsolation } from "./pod-isolation.ts";

const root = mkdtempSync(join(tmpdir(), "cem-volume-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
for (const folder of ["one", "two", "tools"]) mkdirSync(join(root, folder));
const template = { spec: { containers: [{ name: "guest", image: "an-image", command: ["other"] }] } };
const plan = (spec: Partial<GuestPodPlan["spec"]> = {}): GuestPodPlan => ({
  name: "cem-guest-1",
  namespace: "agents",
  labels: {},
  owner: { name: "worker", uid: "uid" },
  volume: { claim: "files", root },
  spec: { workspaceDir: join(root, "one"), ...spec },
  memoryMb: 256,
  shutdownAt: new Date(0),
});

describe("guestPod", () => {
  it("gives a guest its own parts of the volume, and no other", () => {
    const mounts = [{ hostPath: join(root, "tools"), guestPath: "/workspace/servers", readOnly: true }];
    const pod = guestPod(template, plan({ mounts }));
    expect(findProblems(pod)).toEqual([]);
    expect(pod.spec.podTemplate.spec.containers[0]?.volumeMounts).toEqual([
      { name: "cem-files", mountPath: "/workspace", subPath: "one", readOnly: false },
      { name: "cem-files", mountPath: "/workspace/servers", subPath: "tools", readOnly: true },
    ]);
    expect(pod.spec).toMatchObject({ shutdownTime: "1970-01-01T00:00:00Z", shutdownPolicy: "Delete" });
  });

  it("takes the credentials of the cluster from it, and bounds its memory", () => {
    const { spec, metadata } = guestPod(template, plan()).spec.podTemplate;
    expect(spec).toMatchObject({ automountServiceAccountToken: false, restartPolicy: "Never" });
    expect(spec.containers[0]).toMatchObject({
      command: ["sleep", "infinity"],
      resources: { limits: { memory: "384Mi" } },
    });
    expect(metadata?.labels).toMatchObject({ "cem/network": "none" });
    expect(guestPod(template, plan({ network: "all" })).spec.podTemplate.metadata?.labels).toMatchObject({
      "cem/network": "allowed",
    });
  });

  it("refuses the whole volume and what lies outside of it", () => {
    for (const workspaceDir of [root, tmpdir(), "/etc"])
      expect(() => guestPod(template, plan({ workspaceDir }))).toThrow(/not a folder or file below/);
  });
});

describe("judgeIsolation", () => {
  const guest = { name: "guest" };
  const PRIVILEGED = { securityContext: { privileged: true } };
  const holding = (securityContext: object) => ({ containers: [{ ...guest, securityContext }] });
  const facts = { handler: undefined, guestBootId: "guest", nodeBootId: "node" };

  it.each([
    ["kata-qemu", {}, "microvm"],
    ["runsc", {}, "namespaces"],
    [undefined, {}, "namespaces"],
    ["kata-qemu", { hostNetwork: true }, "permissions"],
    [undefined, { hostPID: true }, "permissions"],
    [undefined, { volumes: [{ name: "host", hostPath: { path: "/" } }] }, "permissions"],
    [undefined, { hostIPC: true }, "permissions"],
    [undefined, holding({ privileged: true }), "permissions"],
    [undefined, holding({ capabilities: { add: ["SYS_ADMIN"] } }), "permissions"],
    [undefined, holding({ capabilities: { add: ["CHOWN"] } }), "namespaces"],
    ["kata-qemu", holding({ capabilities: { add: ["SYS_ADMIN"] } }), "microvm"],
    [undefined, holding({ procMount: "Unmasked" }), "permissions"],
    [undefined, { containers: [guest, { name: "beside", ...PRIVILEGED }] }, "permissions"],
    [undefined, { initContainers: [{ name: "before", ...PRIVILEGED }] }, "namespaces"],
    [
      undefined,
      { initContainers: [{ name: "beside", restartPolicy: "Always", ...PRIVILEGED }] },
      "permissions",
    ],
  ])("of the runtime %s with %j is %s", (handler, more, level) => {
    const { isolation } = judgeIsolation({ ...template.spec, ...more }, { ...facts, handler });
    expect(isolation.level).toBe(level);
  });
});
