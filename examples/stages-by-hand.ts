// Every stage on its own: find the tools, choose, write the code, review it, run it.
// Run it from the root: npm run example examples/stages-by-hand.ts
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import {
  createDenoSandboxProvider,
  createDiscovery,
  createGuard,
  createRulesGenerator,
  createSelector,
} from "code-execution-mcp/stages";

const task = "Calculate 12 * 12 and use the double_number skill on the result";
const servers = path.resolve("servers");
const skills = path.resolve("skills");
const workspace = await mkdtemp(path.join(os.tmpdir(), "stages-"));

const catalog = await createDiscovery({ serversDir: servers, skillsDir: skills }).list();
const tools = catalog.servers.flatMap((server) => server.tools);
const { selected } = await createSelector().select({ task, tools });
const generated = await createRulesGenerator().generate({ task, tools: selected.map(({ tool }) => tool) });
if (generated.status === "refused") throw new Error(generated.steps.map(({ hint }) => hint).join(" "));

const { allowed } = await createGuard().review({ code: generated.code, tools });
if (!allowed) throw new Error("The guard said no.");

const sandbox = await createDenoSandboxProvider().create({
  workspaceDir: workspace,
  mounts: [
    { hostPath: servers, guestPath: "/workspace/servers", readOnly: true },
    { hostPath: skills, guestPath: "/workspace/skills", readOnly: true },
  ],
});
const outcome = await sandbox.run({ code: generated.code, limits: { timeoutMs: 5_000 } });
console.log(outcome.status, outcome.status === "completed" ? outcome.value : "");
await sandbox.dispose();
await rm(workspace, { recursive: true, force: true });
