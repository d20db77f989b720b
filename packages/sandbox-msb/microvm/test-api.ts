// The part of vitest's API that the tests use, on Node's own runner: where all is emulated, vitest takes most of a minute to start.
import { format } from "node:util";
import { after, afterEach as nodeAfterEach, before, describe as nodeDescribe, it as nodeIt } from "node:test";

// The bundle takes this from the real vitest, and everything else from here.
export { expect } from "vitest";

type Body = (...values: never[]) => unknown;
type Hook = (body: () => Promise<void>, options: { timeout: number }) => void;

/** Where the processor is emulated, all takes its time. */
const TIMEOUT_MS = 300_000;

/** A suite while its body runs. */
interface Suite {
  name: string;
  hooks: (() => void)[];
  tests: number;
}

const open: Suite[] = [];
/** Called when the test that runs has ended. */
let finishing: (() => unknown)[] = [];
let isWanted: (name: string) => boolean = () => true;

/** From here on, only tests of which this is true are declared. */
export function declareOnly(filter: (name: string) => boolean): void {
  isWanted = filter;
}

function suite(name: string, body: () => void): void {
  const own: Suite = { name, hooks: [], tests: 0 };
  void nodeDescribe(name, () => {
    open.push(own);
    body();
    open.pop();
    const parent = open.at(-1);
    if (parent !== undefined) parent.tests += own.tests;
    // One without tests has nothing to prepare.
    if (own.tests > 0) for (const register of own.hooks) register();
  });
}

function test(name: string, body: Body, timeout = TIMEOUT_MS): void {
  if (!isWanted([...open.map((suite) => suite.name), name].join(" > "))) return;
  const own = open.at(-1);
  if (own !== undefined) own.tests += 1;
  void nodeIt(name, { timeout: Math.max(timeout, TIMEOUT_MS) }, async () => {
    finishing = [];
    try {
      await body();
    } finally {
      for (const finish of finishing.toReversed()) await finish();
    }
  });
}

/** Does something once the test that runs has ended. */
export function onTestFinished(finish: () => unknown): void {
  finishing.push(finish);
}

const skipped = (): void => {};

function hook(register: Hook): (body: () => unknown) => void {
  return (body) => {
    const run = async () => void (await body());
    open.at(-1)?.hooks.push(() => register(run, { timeout: TIMEOUT_MS }));
  };
}

export const describe = Object.assign(suite, {
  skipIf: (condition: boolean) => (condition ? skipped : suite),
});

export const it = Object.assign(test, {
  each:
    (rows: readonly unknown[]) =>
    (name: string, body: Body): void => {
      for (const row of rows) {
        const values = Array.isArray(row) ? row : [row];
        const places = name.match(/%s/g)?.length ?? 0;
        const run = body as (...values: unknown[]) => unknown;
        test(format(name, ...values.slice(0, places)), () => run(...values));
      }
    },
});

export const beforeAll: (body: () => unknown) => void = hook(before);
export const afterAll: (body: () => unknown) => void = hook(after);
export const afterEach: (body: () => unknown) => void = hook(nodeAfterEach);
