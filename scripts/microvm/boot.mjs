// Boots outer machines, one for each part of the tests, and reads what the tests say from their consoles.
//
// Their clock counts instructions: a second there is a second of a machine that runs 10⁹ of them, however long it takes
// here. So limits in time hold as they would on a real machine, and timers don't eat up a slow processor.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { say } from "../setup.mjs";

const DEADLINE_MS = 840_000;
const MACHINE =
  "-M q35 -accel tcg,thread=single -icount shift=0 -cpu max,+svm,+npt,-la57,-pku -smp 1 -m 3072 -display none -serial stdio -no-reboot -nic none";
const KERNEL = "console=ttyS0 quiet panic=-1 mitigations=off nokaslr cryptomgr.notests audit=0 apparmor=0";

/** Resolves with the counts that the tests gave, in so many machines. */
export async function bootOuterMachines(files, parts) {
  // Without spaces: it goes to the machine with its kernel's parameters.
  const { CEM_MICROVM_TESTS: tests } = process.env;
  if (tests !== undefined) return bootPart(files, `CEM_MICROVM_TESTS=${tests}`);
  say(`Booting ${parts} machines with emulated processors …`);
  const ended = await Promise.all(
    Array.from({ length: parts }, (_, part) => bootPart(files, `CEM_MICROVM_PART=${part}/${parts}`)),
  );
  const sum = (name) => ended.reduce((total, counts) => total + counts[name], 0);
  return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
}

function bootPart({ kernel, initrd, systemImage, jobImage }, environment) {
  const started = Date.now();
  const disk = (file) => ["-drive", `file=${file},if=virtio,format=raw,cache=unsafe,snapshot=on`];
  const qemu = spawn(
    "qemu-system-x86_64",
    [
      MACHINE.split(" "),
      // What the kernel doesn't know becomes part of the environment.
      ["-kernel", kernel, "-initrd", initrd, "-append", `${KERNEL} ${environment}`],
      disk(systemImage),
      disk(jobImage),
    ].flat(),
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const stop = () => qemu.kill("SIGKILL");
  process.once("exit", stop);
  const timer = setTimeout(() => {
    say(`The emulated machine with ${environment} did not end within ${DEADLINE_MS / 1000} s.`);
    stop();
  }, DEADLINE_MS);
  // Until the tests give their own counts: what was seen, and one failure for not coming to their end.
  let counts = { passed: 0, failed: 1, skipped: 0 };
  createInterface({ input: qemu.stdout }).on("line", (line) => {
    const result = /CEM-RESULT (\d+) (\d+) (\d+)/.exec(line);
    if (/^ [✓×] /.test(line)) counts[line.startsWith(" ✓") ? "passed" : "failed"] += 1;
    const seconds = String(Math.round((Date.now() - started) / 1000)).padStart(4);
    if (result === null) return say(`${seconds} s  ${line.replaceAll("\r", "")}`);
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
