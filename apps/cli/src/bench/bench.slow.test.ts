import { describe, expect, it } from "vitest";
import { measurePooling, MODES, ratioOf, summaryOf } from "./measure-pooling.ts";
import type { PoolingResult } from "./measure-pooling.ts";
import { poolingSvg } from "../commands/bench.ts";
import { PROGRAMS } from "./measure-pooling.ts";
import { renderPooling } from "../commands/bench.ts";
import { createColors } from "picocolors";

const style = { colors: createColors(false), width: 80 };

function resultOf(mode: PoolingResult["mode"], ...times: number[]): PoolingResult {
  const runs = times.map((ms) => ({ id: "01", ms }));
  return { sandbox: "deno", level: "namespaces", mode, runs, ...summaryOf(runs) };
}

describe("summaryOf", () => {
  it("takes the first run apart from the median of the later ones", () => {
    expect(resultOf("session", 90, 4, 100, 5)).toMatchObject({ firstMs: 90, laterMs: 5 });
    expect(summaryOf([{ id: "01", ms: 7 }])).toEqual({ firstMs: 7 });
  });
});

describe("cem bench pooling", () => {
  const results = [resultOf("without pool", 50, 40), resultOf("session", 30, 4)];

  it("shows how many times as long as the quickest each takes, in a table and a chart", () => {
    expect(results.map((result) => ratioOf(result, results))).toEqual([10, 1]);
    const lines = renderPooling({ results, absent: [{ sandbox: "microsandbox", reason: "no KVM" }] }, style);
    expect(lines.join("\n")).toMatch(/without pool +50\.0 ms +40\.0 ms +10\.0×/);
    expect(lines.join("\n")).toContain("microsandbox can't be had here: no KVM");
    expect(lines.find((line) => line.includes("deno, without pool"))).toContain("█".repeat(30));
  });

  it("draws one line for each in the plot", () => {
    const svg = poolingSvg({ results, absent: [] });
    expect(svg.match(/<polyline/g)).toHaveLength(2);
    expect(svg).not.toContain("NaN");
  });

  it("runs every program in every mode, for real", async () => {
    const signal = AbortSignal.timeout(60_000);
    const report = await measurePooling(PROGRAMS, { signal, onRun: () => {} });
    const deno = report.results.filter(({ sandbox }) => sandbox === "deno");
    expect(deno.map(({ mode }) => mode)).toEqual([...MODES]);
    for (const { runs } of deno) expect(runs.map(({ id }) => id)).toEqual(PROGRAMS.map(({ id }) => id));
  }, 60_000);
});
