import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GUEST_RUNNER } from "@cem/sandbox/provider-kit";
import { afterAll, describe, expect, it } from "vitest";
import { findDeno } from "./start-guest.ts";
import { findCandidates } from "./detect-isolation.ts";
import { MOUNTED_FILE } from "./testing/backends.ts";

const WRITABLE_BY_ROOT = [
  "/proc/sys/kernel/core_pattern",
  "/proc/sys/kernel/hostname",
  "/proc/sys/vm/drop_caches",
  "/proc/sysrq-trigger",
  "/proc/irq/default_smp_affinity",
  "/proc/acpi/wakeup",
  "/proc/1/oom_score_adj",
  "/sys/kernel/mm/transparent_hugepage/enabled",
  "/sys/fs/cgroup/cgroup.procs",
  "/sys/fs/cgroup/pids/cgroup.procs",
  "/sys/power/state",
  MOUNTED_FILE,
];
/** Opens without writing: a hole found here must not harm the machine. */
const LOOK = `const open = [];
for (const path of ${JSON.stringify(WRITABLE_BY_ROOT)}) { try { Deno.openSync(path, { write: true }).close(); open.push(path); } catch {} }
console.log(JSON.stringify({ open, capabilities: /CapEff:\\s*(\\w+)/.exec(Deno.readTextFileSync("/proc/self/status"))[1] }));`;

describe.runIf(process.platform === "linux" && process.getuid?.() === 0)("a guest of root", () => {
  const folder = mkdtempSync(join(tmpdir(), "cem-kernel-files-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(findCandidates("auto").backends)(
    "can't write the kernel's files, even with all permissions of Deno: $name",
    (backend) => {
      const own = mkdtempSync(join(folder, `${backend.name}-`));
      for (const name of ["root", "runner", "workspace"]) mkdirSync(join(own, name));
      const bootFile = join(own, "runner/boot.js");
      writeFileSync(bootFile, LOOK);
      const { file, args, env, cwd, descriptorFile } = backend.plan({
        denoFile: findDeno(undefined),
        bootFile,
        privateDir: own,
        workspaceDir: join(own, "workspace"),
        mounts: [],
        hidden: [],
        init: {},
        network: "none",
        memoryMb: 128,
        writeMb: 64,
      });
      const guestFile = backend.level === "permissions" ? bootFile : `${GUEST_RUNNER}/guest/boot.js`;
      const free = [...args.slice(0, args.indexOf("run") + 1), "--quiet", "--allow-all", guestFile];
      const filter = descriptorFile === undefined ? [] : [openSync(descriptorFile, "r")];
      const done = spawnSync(file, free, { env, cwd, stdio: ["ignore", "pipe", "pipe", ...filter] });
      expect(done.stderr.toString()).toBe("");
      const { open, capabilities } = JSON.parse(done.stdout.toString()) as Record<string, unknown>;
      expect(open).toEqual([]);
      // At most the two that let root read and write what belongs to others.
      expect(Number.parseInt(capabilities as string, 16) & ~0b110).toBe(0);
    },
  );
});
