import { openWorkflows } from "code-execution-mcp";
const w = await openWorkflows({
  cwd: "/tmp/wt/flow",
  configFile: false,
  config: {
    execution: {
      workspaceDir: "/tmp/flowws",
      serversDir: "/tmp/wt/flow/servers",
      skillsDir: "/tmp/wt/flow/skills",
    },
  },
});
for (const f of process.argv.slice(2)) {
  console.log(
    await w.plan(f).then((p) => p.map((x) => `${x.step}: ${x.does.join(" | ")} ${x.problem?.message ?? ""}`)),
  );
  console.log(
    JSON.stringify(
      await w.run(f, {
        onEvent: (e) => {
          if (e.type !== "run-ended") console.log(JSON.stringify(e));
        },
      }),
      null,
      1,
    ),
  );
}
console.log(await w.list());
await w.dispose();
