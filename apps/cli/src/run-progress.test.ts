import type { AgentEvent } from "@cem/core";
import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { createRunProgress } from "./run/run-progress.ts";
import { recordedEvents } from "./testing/recorded-run.ts";

function record(events: readonly AgentEvent[], verbose = false): string {
  let text = "";
  const style = { colors: createColors(false), width: 80 };
  const write = (more: string): void => void (text += more);
  const show = createRunProgress({ style, isTerminal: false, write, writeTransient: () => {} }, { verbose });
  for (const event of events) show(event);
  return text;
}

describe("createRunProgress", () => {
  it("shows a line as each stage ends, why tools were chosen, and output as it comes", () => {
    expect(record(recordedEvents)).toMatchInlineSnapshot(`
      "
        discover   4 servers, 14 tools                                            6 ms
        select     2 of 14 tools, by words only: no embedding model is set        2 ms
                   calculator.calculate  matches "calculate"
                   weather.get_weather   matches "get", "weather"
        generate   by rules, 7 lines                                              3 ms
        review     no findings                                                   <1 ms
        output     the sum is 8
                   and the weather follows
        run        2 tool calls, namespaces (bubblewrap, seccomp, rlimits, deno   9 ms
                   permissions)
      "
    `);
  });

  it("shows each call when it is verbose", () => {
    expect(record(recordedEvents, true)).toMatch(/call {7}calculator\.calculate {2}success/u);
  });

  it("gives guest code no way to the terminal", () => {
    const text = record([
      {
        type: "selected",
        tools: [{ server: "a\u001B[2J", tool: "b", score: 1, reason: "\u009B2J\nx" }],
        available: 1,
        ms: 1,
      },
      {
        type: "reviewed",
        allowed: true,
        findings: [{ rule: "r", severity: "warning", message: "\u001Bc" }],
        ms: 1,
      },
      { type: "output", chunk: { stream: "stdout", text: "\u001B]52;c;aGk=\u0007\rgone" } },
    ]);
    expect(text).toMatch(/^[\n -~]+$/u);
  });
});
