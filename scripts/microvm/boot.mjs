// Boots the outer machine and reads what its tests say from its console.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { say } from "../setup.mjs";

const DEADLINE_MS = 900_000;
const MACHINE =
  "-M q35 -accel tcg,thread=multi -cpu max,+svm,+npt,-la57,-pku -smp 2 -m 4096 -display none -serial stdio -no-reboot -nic none";

/** Resolves with the counts that the tests gave. */
export function bootOuterMachine({ kernel, initrd, systemImage, jobImage }) {
  say("Booting a machine with an emulated processor …");
  const disk = (file) => ["-drive", `file=${file},if=virtio,format=raw,cache=unsafe`];
  const qemu = spawn(
    "qemu-system-x86_64",
    [
      MACHINE.split(" "),
      ["-kernel", kernel, "-initrd", initrd, "-append", "console=ttyS0 quiet panic=-1 mitigations=off"],
      disk(systemImage),
      disk(jobImage),
    ].flat(),
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const stop = () => qemu.kill("SIGKILL");
  process.once("exit", stop);
  const timer = setTimeout(() => {
    say(`The emulated machine did not end within ${DEADLINE_MS / 1000} s.`);
    stop();
  }, DEADLINE_MS);
  // Until the tests give their own counts: what was seen, and one failure for not coming to their end.
  let counts = { passed: 0, failed: 1, skipped: 0 };
  createInterface({ input: qemu.stdout }).on("line", (line) => {
    const result = /CEM-RESULT (\d+) (\d+) (\d+)/.exec(line);
    if (/^ [✓×] /.test(line)) counts[line.startsWith(" ✓") ? "passed" : "failed"] += 1;
    if (result === null) return say(line.replaceAll("\r", ""));
    counts = { passed: Number(result[1]), failed: Number(result[2]), skipped: Number(result[3]) };
  });
  return new Promise((resolve, reject) => {
    qemu.once("error", reject);
    qemu.once("close", () => {
      clearTimeout(timer);
      process.off("exit", stop);
      resolve(counts);
    });
  });
}
