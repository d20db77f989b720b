import type { JsonValue } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createRedactor } from "./redactor.ts";

const person = (at: number) => ({ id: at, name: `row ${at}`, mail: `ada${at}@example.com`, note: null });
const rows = (count: number) => Array.from({ length: count }, (_, at) => person(at));
const lines = (count: number) =>
  Array.from(
    { length: count },
    (_, at) => `line ${at}: write to ada${at}@example.com or call +1 415 555 ${2_000 + at}`,
  );

describe("tokenizeInTurns", () => {
  it.each<[string, JsonValue]>([
    ["rows", rows(2_000)],
    [
      "rows in an object, with values as names",
      { deep: [{ rows: rows(300) }], "ada@example.com": lines(200) },
    ],
    ["a long text of lines", lines(2_000).join("\n")],
    ["a long text without line ends", lines(2_000).join(" ")],
    ["a word without an end", `${"x".repeat(50_000)} ada@example.com ${"y".repeat(50_000)}`],
    ["what holds nothing", Array.from({ length: 5_000 }, (_, at) => ({ at, text: "plain" }))],
    ["little", "ada@example.com"],
  ])("replaces what tokenize replaces: %s", async (_, data) => {
    const shown = createRedactor().tokenize(data, {});
    const inTurns = await createRedactor().tokenizeInTurns?.(data, {});
    const plain = (text: unknown): string => JSON.stringify(text).replaceAll(/\[\[(\w+):\w+\]\]/g, "$1");
    const [one, other] = [plain(inTurns), plain(shown)];
    // Not compared as texts, which would be printed whole.
    expect(one === other).toBe(true);
    expect(inTurns === data).toBe(shown === data);
  });

  it("replaces the beginning of a value at the end of a text that is cut", async () => {
    const redactor = createRedactor();
    redactor.tokenize("ada.lovelace@example.com", {});
    const text = `${"word ".repeat(2_000)}ada.lovelace@exam`;
    expect(await redactor.tokenizeInTurns?.(text, { isCut: true })).not.toContain("lovelace");
    expect(await redactor.tokenizeInTurns?.(text, {})).toContain("lovelace");
  });

  it("knows what a tool returned before", async () => {
    const redactor = createRedactor();
    const secret = "kX9mQ2vR7tLpW4zN";
    redactor.observe(
      { filler: "word ".repeat(3_000), rows: rows(500), password: secret },
      { server: "a", tool: "b" },
    );
    const text = `${"word ".repeat(2_000)} ${secret}`;
    expect(await redactor.tokenizeInTurns?.(text, {})).not.toContain(secret);
  });

  it("lets others have the thread in between", async () => {
    let turns = 0;
    const counting = setInterval(() => (turns += 1));
    await createRedactor().tokenizeInTurns?.(rows(5_000), {});
    clearInterval(counting);
    expect(turns).toBeGreaterThan(3);
  });
});
