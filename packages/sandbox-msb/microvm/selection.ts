import { isWhole } from "./provider.ts";
import { declareOnly } from "./test-api.ts";

/** What each of two emulated machines tries. */
const PARTS = [
  /^microVMs|> (?:files|network|life of a sandbox) >/,
  /> (?:says|refuses|values|failures|limits|tools|tools on the host without a file|kept results|hostile programs)/,
];
/** Many machines or much memory one after another: for real processors. */
const TOO_SLOW = [
  /> time > ends (?:microtasks|a loop in finally|signals)/,
  /> memory > (?!ends what fills one huge)/,
  /> hostile programs > (?:survives a bomb|bounds what)/,
  /> concurrency > /,
  /> memory of the host > /,
];

const [part, parts] = (process.env["CEM_MICROVM_PART"] ?? "0/1").split("/").map(Number);
const tests = process.env["CEM_MICROVM_TESTS"];
if (tests !== undefined) declareOnly((name) => new RegExp(tests).test(name));
else if (!isWhole) {
  declareOnly((name) => {
    const own = parts === PARTS.length ? PARTS[part ?? 0] : undefined;
    return (own === undefined || own.test(name)) && !TOO_SLOW.some((slow) => slow.test(name));
  });
}
