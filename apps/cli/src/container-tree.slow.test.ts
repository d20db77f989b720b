import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "./testing/run-cem.ts";
import { COMPILE_CACHE, SHELL_COMMAND } from "./testing/spawn-cem.ts";

const UNSHARE = ["--pid", "--fork", "--mount-proc"];
const canUnshare = spawnSync("unshare", [...UNSHARE, "true"]).status === 0;

/** A first step that ends, and one that waits until it is done anew. */
const WORKFLOW = `name: slow
steps:
  - { name: first, type: code_execution, config: { code: "export default 1;" } }
  - name: wait
    type: code_execution
    idempotent: true
    config:
      inputs: { first: "\${{ steps.first }}" }
      code: |
        import { existsSync, writeFileSync } from "node:fs";
        if (!existsSync("began")) { writeFileSync("began", ""); await new Promise((done) => setTimeout(done, 60_000)); }
        export default inputs.first + 1;
`;

/** Kills a run whose parent is then a process that asks about no child, as in a container without an init, and goes on with it. */
const SCRIPT = `
(${SHELL_COMMAND} workflow run slow.yaml >first.log 2>&1 & echo $! >pid)
pid=$(cat pid)
for try in $(seq 600); do [ -e workspace/began ] && break; sleep 0.1; done
kill -9 $pid
for try in $(seq 100); do grep -q '^State:.Z' /proc/$pid/status && break; sleep 0.1; done
grep '^State' /proc/$pid/status >state
${SHELL_COMMAND} workflow list --json >listed
${SHELL_COMMAND} workflow resume "$(basename .cem/workflows/slow-*)" --json >resumed 2>&1
echo $? >code`;

it.skipIf(!canUnshare)(
  "goes on with a workflow whose process was killed and is a zombie",
  async () => {
    const cwd = temporaryFolder();
    writeFileSync(path.join(cwd, "slow.yaml"), WORKFLOW);
    writeFileSync(path.join(cwd, "kill-and-resume.sh"), SCRIPT);
    // The first process of the namespace never asks how its children ended.
    const tree = spawn(
      "unshare",
      [...UNSHARE, "--kill-child", "sh", "-c", "sh kill-and-resume.sh & exec sleep 100"],
      {
        cwd,
        env: { PATH: process.env["PATH"], HOME: cwd, NODE_COMPILE_CACHE: COMPILE_CACHE },
        stdio: "ignore",
      },
    );
    const read = (name: string): string => readFileSync(path.join(cwd, name), "utf8");
    await expect
      .poll(() => spawnSync("test", ["-s", path.join(cwd, "code")]).status, { timeout: 110_000 })
      .toBe(0);
    tree.kill("SIGKILL");
    await once(tree, "close");
    expect(read("state")).toContain("Z");
    expect(JSON.parse(read("listed"))).toMatchObject({ runs: [{ workflow: "slow", status: "interrupted" }] });
    expect(JSON.parse(read("resumed"))).toMatchObject({ status: "success", outputs: { wait: 2 } });
    expect(read("code").trim()).toBe("0");
  },
  120_000,
);
