import type { TaskResult } from "@cem/core";
import type { Attack } from "./attack.ts";
import type { Ground } from "./ground.ts";

const SHOWN_CHARACTERS = 300;
let sessions = 0;

/** Carries out an attack. Resolves with why it was not held, or `undefined`. */
export async function runAttack(attack: Attack, ground: Ground): Promise<string | undefined> {
  await ground.clear();
  const agent = ground.agents[attack.with === "guards" ? "guards" : "alone"];
  const session = `attack-${(sessions += 1)}`;
  const before = await ground.snapshot();
  const results: TaskResult[] = [];
  const events: unknown[] = [];
  let longestMs = 0;
  for (const code of [attack.programs(ground.target)].flat()) {
    const start = performance.now();
    const onEvent = (event: unknown): void => void events.push(event);
    results.push(await agent.executeCode(code, { session, limits: attack.limits, onEvent }));
    longestMs = Math.max(longestMs, performance.now() - start);
  }
  const last = results.at(-1);
  const { sent, cancelled } = ground;
  try {
    attack.check?.({ results, sent, longestMs, cancelled });
  } catch (error) {
    return `${(error as Error).message}; ${shown(last)}`;
  }
  if (attack.value !== undefined && JSON.stringify(last?.value) !== JSON.stringify(attack.value))
    return `it should have given ${JSON.stringify(attack.value).slice(0, SHOWN_CHARACTERS)}; ${shown(last)}`;
  const seen = JSON.stringify([results.map((result) => ({ ...result, code: "" })), ground.log]);
  // A program may know the results of its tools.
  const known = attack.programs(ground.target).toString().includes("give(") ? ground.target.secret : "";
  const leaked = ground.canaries.filter((canary) => canary !== known && seen.includes(canary));
  if (leaked.length > 0) return `a canary was read; ${shown(last)}`;
  if (ground.connections > 0) return `${ground.connections} connections reached this host`;
  if ((await ground.snapshot()) !== before) return `files outside were changed; ${shown(last)}`;
  if (Reflect.get({}, "polluted") !== undefined) return "the host's prototypes were changed";
  const after = await agent.executeCode("return 6 * 7;", { session });
  return after.value === 42 ? undefined : `the next run failed: ${shown(after)}`;
}

function shown(result: TaskResult | undefined): string {
  const { status, value, error } = result ?? {};
  return JSON.stringify({ status, error: error?.message, value }).slice(0, SHOWN_CHARACTERS);
}
