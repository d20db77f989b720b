// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { createKubernetesProvider } from "@cem/sandbox-k8s";

const volume = { claim: "cem-files", root: tmpdir() };
const provider = createKubernetesProvider({ kubeconfig: "/nowhere/kubeconfig", volume });
const probe = await provider.probe();
assert.equal(probe.available, false);
assert.match(probe.reason, /\/nowhere\/kubeconfig/);
await assert.rejects(provider.create({ workspaceDir: tmpdir() }), { code: "SANDBOX_UNAVAILABLE" });
