import { findGuestRuntime } from "../src/guest-runtime.ts";
import { installedVersion } from "../src/load-sdk.ts";
import { probeKey, rememberProbe } from "../src/probe-memory.ts";
import { join } from "node:path";
import { denoFile, isWhole, machinesHome } from "./provider.ts";
import { declareOnly } from "./test-api.ts";

/** What each of two emulated machines tries. */
const PARTS = [/^microVMs|^sandbox contract.*> mounts > /, /^measures|^sandbox contract(?!.*> mounts > )/];
/**
 * What ends its machine is tried by one test of each kind, and what needs machines of its own in `machines.test.ts`:
 * where the processor is emulated, a machine takes twenty seconds. Real processors try all.
 */
const TOO_SLOW = [
  /> time > (?!ends a busy loop)/,
  /> memory > /,
  /> output > ends a flood/,
  /> calls and payloads > (?:ends|counts)/,
  /> writes > /,
  /> tools > ends what is under way/,
  /> stops the clock/,
  /> hostile programs > (?:survives a bomb|bounds what|reaches no host)/,
  /> kept results > keep working/,
  /> links that lie in the workspace > /,
  /> network > /,
  /> life of a sandbox > /,
];

const [part, parts] = (process.env["CEM_MICROVM_PART"] ?? "0/1").split("/").map(Number);
/** Those that a developer asks for. */
const tests = process.env["CEM_MICROVM_TESTS"];
if (tests !== undefined) declareOnly((name) => new RegExp(tests).test(name));
else if (!isWhole) {
  declareOnly((name) => {
    const own = parts === PARTS.length ? PARTS[part ?? 0] : undefined;
    return (own === undefined || own.test(name)) && !TOO_SLOW.some((slow) => slow.test(name));
  });
}
// The first of them boots one to find that they work; the others are told.
if (!isWhole && part !== 0) {
  const key = probeKey(installedVersion() ?? "", findGuestRuntime(denoFile).key);
  rememberProbe(join(machinesHome, "probe.json"), { key, booted: true });
}
