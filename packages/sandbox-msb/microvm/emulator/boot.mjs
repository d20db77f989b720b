// Boots outer machines, one for each part of the tests, and reads what the tests say from their consoles.
//
// Their clock counts instructions: a second there is a second of a machine that runs 10⁹ of them, however long it takes
// here. So limits in time hold as they would on a real machine, and timers don't eat up a slow processor.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { say } from "../../../../scripts/setup.mjs";
import { ALIVE } from "./job-disk.mjs";

/** The emulator's own fault proves nothing of microVMs, and is told; where there is virtualization a boot that hangs fails. */
const NOT_TRIED = { passed: 0, failed: 0, skipped: 1 };
/** Timeout of one machine. */
const DEADLINE_MS = 780_000;
/** A machine that lives on while the one inside it has stopped says no more of its tests, each of which takes 20 s at most. */
const MAX_SILENCE_MS = 90_000;
/** Machines for one part, each in place of one that stopped. */
const MAX_MACHINES = 3;
const MACHINE =
  "-M q35 -accel tcg,thread=single -icount shift=0 -cpu max,+svm,+npt,-la57,-pku -smp 1 -m 3072 -display none -serial stdio -no-reboot -nic none";
const KERNEL =
  "console=ttyS0 quiet panic=-1 mitigations=off nokaslr nohz=off highres=off cryptomgr.notests audit=0 apparmor=0";

/** Runs the tests in `parts` machines; resolves with the sum of their counts. */
export async function bootOuterMachines(files, parts) {
  // Without spaces: it goes to the machine with its kernel's parameters.
  const { CEM_MICROVM_TESTS: tests } = process.env;
  if (tests !== undefined) {
    const { counts, stopped } = await bootPart(files, `CEM_MICROVM_TESTS=${tests}`);
    return stopped ? add(counts, NOT_TRIED) : counts;
  }
  say(`Booting ${parts} machines with emulated processors …`);
  const ended = await Promise.all(
    Array.from({ length: parts }, (_, part) => bootUntilDone(files, `CEM_MICROVM_PART=${part}/${parts}`)),
  );
  return ended.reduce(add);
}

/** Runs a part of the tests. The emulator stops now and then; another machine runs the remaining tests then. */
async function bootUntilDone(files, environment) {
  let counts = { passed: 0, failed: 0, skipped: 0 };
  for (let machine = 1; ; machine += 1) {
    const done = counts.passed + counts.failed + counts.skipped;
    const ended = await bootPart(files, `${environment} CEM_MICROVM_DONE=${done}`);
    counts = add(counts, ended.counts);
    if (!ended.stopped) return counts;
    if (machine === MAX_MACHINES) {
      say(
        `The emulator stopped ${MAX_MACHINES} times: the tests that remain of ${environment} were not tried.`,
      );
      return add(counts, NOT_TRIED);
    }
    say(`The emulator stopped. Another machine goes on with ${environment} …`);
  }
}

function add(one, other) {
  const sum = (name) => one[name] + other[name];
  return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
}

/** Resolves with the counts, and whether the emulator stopped before the tests came to their end. */
function bootPart({ kernel, initrd, systemImage, jobImage }, environment) {
  const started = Date.now();
  const disk = (file) => ["-drive", `file=${file},if=virtio,format=raw,cache=unsafe,snapshot=on`];
  const qemu = spawn(
    "qemu-system-x86_64",
    [
      MACHINE.split(" "),
      // Arguments that the kernel doesn't know become part of the environment.
      ["-kernel", kernel, "-initrd", initrd, "-append", `${KERNEL} ${environment}`],
      disk(systemImage),
      disk(jobImage),
    ].flat(),
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const stop = () => qemu.kill("SIGKILL");
  process.once("exit", stop);
  let isSilent = false;
  const deadline = setTimeout(() => {
    say(`The emulated machine with ${environment} did not end within ${DEADLINE_MS / 1000} s.`);
    stop();
  }, DEADLINE_MS);
  const watch = () =>
    setTimeout(() => {
      isSilent = true;
      stop();
    }, MAX_SILENCE_MS);
  let silence = watch();
  // Until the tests give their own counts: what was seen.
  let counts = { passed: 0, failed: 0, skipped: 0 };
  let isComplete = false;
  createInterface({ input: qemu.stdout }).on("line", (text) => {
    const line = text.replaceAll("\r", "").replaceAll(ALIVE, "");
    if (line.trim() === "") return;
    clearTimeout(silence);
    silence = watch();
    const result = /CEM-RESULT (\d+) (\d+) (\d+)/.exec(line);
    if (/^ [✓×] /.test(line)) counts[line.startsWith(" ✓") ? "passed" : "failed"] += 1;
    const seconds = String(Math.round((Date.now() - started) / 1000)).padStart(4);
    if (result === null) return say(`${seconds} s  ${line}`);
    counts = { passed: Number(result[1]), failed: Number(result[2]), skipped: Number(result[3]) };
    isComplete = true;
  });
  return new Promise((resolve, reject) => {
    qemu.once("error", reject);
    qemu.once("close", () => {
      clearTimeout(deadline);
      clearTimeout(silence);
      process.off("exit", stop);
      // One that ended otherwise without its counts has failed as a whole.
      if (!isComplete && !isSilent) counts.failed += 1;
      resolve({ counts, stopped: isSilent && !isComplete });
    });
  });
}
