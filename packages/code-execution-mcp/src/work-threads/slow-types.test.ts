import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createTypeChecker } from "@cem/type-check";
import { expect, it, onTestFinished } from "vitest";
import { startWorkThreads } from "./work-threads.ts";

/** Types whose check takes many seconds, in few characters. */
const SLOW = `type Deep<N extends number, A extends 0[] = []> = A["length"] extends N ? A : Deep<N, [...A, 0]>;
type Pairs<A extends 0[], B extends 0[]> = A extends [0, ...infer R extends 0[]] ? [B, ...Pairs<R, [...B, ...B]>] : [];
const pairs: Pairs<Deep<900>, [0]> = [];
return pairs;`;

it("checks other programs while one takes long", async () => {
  const threads = startWorkThreads();
  const serversDir = mkdtempSync(path.join(tmpdir(), "cem-types-"));
  const checker = createTypeChecker({ serversDir });
  onTestFinished(async () => {
    await checker.dispose();
    await threads.close();
    rmSync(serversDir, { recursive: true });
  });
  await checker.prepare?.();
  const stop = new AbortController();
  let isSlowOver = false;
  const slow = checker
    .check({ code: SLOW, tools: [], signal: stop.signal })
    .catch((error: unknown) => error)
    .finally(() => (isSlowOver = true));
  expect(await checker.check({ code: "const n: number = 1; return n;", tools: [] })).toEqual([]);
  expect(isSlowOver).toBe(false);
  stop.abort("over");
  expect(await slow).toBe("over");
});
