import type { TaskResult } from "@cem/core";
import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { renderBrief, renderFailure, renderResult } from "./render/result.ts";
import { recordedResult } from "./testing/recorded-run.ts";

const style = { colors: createColors(false), width: 80 };
const options = { verbose: false };

const failed = (status: TaskResult["status"], code: string, message: string, details = {}): TaskResult => ({
  ...recordedResult,
  status,
  value: null,
  error: { code, message, details },
});

describe("renderResult", () => {
  it("shows the code, what was kept out of context, and the value last", () => {
    expect(renderResult(recordedResult, style, options).join("\n")).toMatchInlineSnapshot(`
      "
           1  import { calculate } from "./servers/calculator/index.ts";
           2  import { get_weather } from "./servers/weather/index.ts";
           3
           4  const sum = await calculate({ expression: "5 + 3" });
           5  const weather = await get_weather({ location: "San Francisco" });
           6
           7  export default { sum, weather };

        context    38 tokens instead of 1,914 (98 % kept out)

        sum        8
        weather
          location     San Francisco
          temperature  14.2
          conditions   partly cloudy"
    `);
  });

  it("says what was kept from the model, and how to see it", () => {
    const token = "[[EMAIL:pu3v5bwvaioc2hfg]]";
    const result = { ...recordedResult, value: { from: token, to: [token, "[[SSN:nokfmmqi6vvj6z2j]]"] } };
    expect(renderResult(result, style, options).join(" ").replaceAll(/\s+/gu, " ")).toContain(
      "kept 2 values of personal data or secrets shown as tokens; guardrails.pii_detection: false shows them",
    );
  });

  it("hides nothing of a long line of code", () => {
    const code = `export default "${"0123456789".repeat(20)}";`;
    const shown = renderResult({ ...recordedResult, code }, style, options).slice(1, 5);
    expect(shown.map((line) => line.slice(8)).join("")).toBe(code);
  });

  it("leaves out code that the caller has, and says when there is nothing", () => {
    const text = renderResult({ ...recordedResult, origin: "given", value: null }, style, options).join("\n");
    expect(text).not.toContain("import");
    expect(text).toContain("Nothing was returned or printed.");
  });

  it("says how much output was dropped", () => {
    expect(
      renderResult({ ...recordedResult, outputDroppedBytes: 123_456 }, style, options).join("\n"),
    ).toContain("123,456 bytes of output were over the limit");
  });
});

describe("renderFailure", () => {
  it("points at the line", () => {
    const result = failed("error", "CODE_THREW", "Line 4 of the code threw RangeError: too much", {
      line: 4,
    });
    expect(renderFailure(result, style, options).join("\n")).toMatchInlineSnapshot(`
      "
        error      Line 4 of the code threw RangeError: too much

           2  import { get_weather } from "./servers/weather/index.ts";
           3
        >  4  const sum = await calculate({ expression: "5 + 3" });
           5  const weather = await get_weather({ location: "San Francisco" });
           6"
    `);
  });

  it("names the nearest tools, and how to get one, when none fits", () => {
    const details = {
      steps: [{ step: "send an email", reason: "no-tool", hint: 'No tool here can do "send an email".' }],
      nearest: [
        { tool: "filesystem.write_file", score: 0.113 },
        { tool: "weather.get_forecast", score: 0.06 },
      ],
    };
    expect(renderFailure(failed("refused", "NO_TOOL", "…", details), style, options).join("\n"))
      .toMatchInlineSnapshot(`
        "
          No tool here can do "send an email".
          Nearest: filesystem.write_file (0.11), weather.get_forecast (0.06).
          Nothing was run. cem exec <file> runs code of your own; with llm.enabled in
          config.yaml a model writes it. cem tools lists what there is, cem add another
          server."
      `);
  });

  it("says how to begin where there are no tools, and what helps where a tool was not understood", () => {
    const none = { steps: [{ step: "x", reason: "no-tool", hint: "No tool." }], nearest: [], tools: 0 };
    expect(renderFailure(failed("refused", "NO_TOOL", "…", none), style, options).join("\n"))
      .toMatchInlineSnapshot(`
      "
        No tool.
        Nothing was run.

        Begin with examples:  cem init
        Add a server:         cem add <name> -- npx -y <server>"
    `);
    const unread = { steps: [{ step: "x", reason: "not-understood", hint: "What?" }], nearest: [], tools: 3 };
    expect(renderFailure(failed("refused", "TASK_NOT_UNDERSTOOD", "…", unread), style, options).join("\n"))
      .toMatchInlineSnapshot(`
        "
          What?
          Nothing was run. cem exec <file> runs code of your own; with llm.enabled in
          config.yaml a model writes it."
      `);
  });

  it("says what helps on a line of its own", () => {
    const result = failed("timeout", "RUN_TIMED_OUT", "The code did not finish within 1 s and was stopped.");
    const error = { code: "", message: "", details: {}, ...result.error, hint: "Allow more." };
    expect(renderFailure({ ...result, error }, style, options)).toEqual([
      "",
      "  timeout    The code did not finish within 1 s and was stopped.",
      "             Allow more.",
    ]);
  });

  it("says how a tool that fits becomes callable, in place of how to get one", () => {
    const reason = 'crm.find fits, but can\'t be called: Server "crm" requires authorization.';
    const steps = [{ reason: "no-tool", hint: reason, unavailable: { code: "AUTH_REQUIRED" } }];
    const result = failed("refused", "NO_TOOL", "…", { steps });
    const error = { code: "", message: "", details: {}, ...result.error, hint: "Sign in with  cem auth crm" };
    expect(renderFailure({ ...result, error }, style, options)).toEqual([
      "",
      `  ${reason}`,
      "  Nothing was run.",
      "",
      "  Sign in with  cem auth crm",
    ]);
  });
});

describe("renderBrief", () => {
  it("is the value alone, or what was printed where nothing was returned", () => {
    expect(renderBrief({ ...recordedResult, value: 8 }, false)).toBe("8");
    expect(renderBrief({ ...recordedResult, value: { sum: 0.1 + 0.2 } }, false)).toContain(
      "0.30000000000000004",
    );
    expect(renderBrief({ ...recordedResult, value: { sum: 0.1 + 0.2 } }, true)).toBe('{\n  "sum": 0.3\n}');
    expect(renderBrief({ ...recordedResult, value: "a\u001B" }, false)).toBe("a\u001B");
    expect(renderBrief({ ...recordedResult, value: "a\u001B" }, true)).toBe(String.raw`a\x1b`);
    expect(renderBrief({ ...recordedResult, value: { a: [1] } }, false)).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(renderBrief({ ...recordedResult, value: null, output: "printed\n" }, false)).toBe("printed");
    expect(renderBrief(failed("error", "X", "x"), false)).toBe("");
  });
});
