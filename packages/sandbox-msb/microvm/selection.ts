import { findGuestRuntime } from "../src/guest-runtime.ts";
import { installedVersion } from "../src/load-sdk.ts";
import { probeKey, cacheProbe } from "../src/host-virtualization.ts";
import { join } from "node:path";
import { denoFile, isWhole, machinesHome } from "./provider.ts";
import { declareOnly } from "./test-api.ts";

/** The tests of each of two emulated machines, which take about the same time. */
const PARTS = [
  /^microVMs(?!.*> of several hosts)|^sandbox contract.*> files > /,
  /^microVMs.*> of several hosts|^sandbox contract(?!.*> files > )/,
];
/**
 * Of the tests that end their machine one of each kind is run, and those that need machines of their own are in
 * `machines.test.ts`: where the processor is emulated, a machine takes twenty seconds. Real processors try all.
 */
const TOO_SLOW = [
  /^measures/,
  // With two machines at once QEMU's emulated virtualization stops, more often than not.
  /> live beside each other/,
  /> time > /,
  /> memory > /,
  /> output > (?:ends a flood|cuts)/,
  /> calls and payloads > (?:ends|counts|keeps|gives)/,
  /> writes > /,
  /> tools > ends what is under way/,
  /> stops the clock/,
  /> hostile programs > (?:survives a bomb|bounds what|reaches no host|does its work when)/,
  /> kept results > keep working/,
  /> runs of a session > /,
  /> work that nobody awaited > /,
  /> links that lie in the workspace > /,
  /> network > /,
  /> life of a sandbox > /,
];

const [part, parts] = (process.env["CEM_MICROVM_PART"] ?? "0/1").split("/").map(Number);
/** How many of them an outer machine came to before this one took its place. */
const comeTo = Number(process.env["CEM_MICROVM_DONE"] ?? 0);
/** Those that a developer asks for. */
const tests = process.env["CEM_MICROVM_TESTS"];
if (tests !== undefined) declareOnly((name) => new RegExp(tests).test(name));
else if (!isWhole) {
  let position = 0;
  declareOnly((name) => {
    const own = parts === PARTS.length ? PARTS[part ?? 0] : undefined;
    if (own?.test(name) === false || TOO_SLOW.some((slow) => slow.test(name))) return false;
    position += 1;
    return position > comeTo;
  });
}
// The first of them boots one to find that they work; the others are told.
if (!isWhole && (part !== 0 || comeTo > 0)) {
  const key = probeKey((await installedVersion()) ?? "", findGuestRuntime(denoFile).key);
  cacheProbe(join(machinesHome, "probe.json"), { key, booted: true });
}
