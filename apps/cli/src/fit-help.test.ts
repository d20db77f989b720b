import { describe, expect, it } from "vitest";
import { parseCommandLine } from "./command/command-line.ts";
import { buildProgram } from "./command/define-command.ts";
import { COMMANDS } from "./commands/all.ts";
import { fitHelp, helpColumns } from "./command/fit-help.ts";
import { columnsOf } from "./render/text.ts";

const commands = buildProgram(COMMANDS.definitions).commands.map((command) => command.name());

function helpOf(columns: number | undefined, ...argv: string[]): string {
  return parseCommandLine([...argv, "--help"], COMMANDS, false, columns).text ?? "";
}

describe("the help", () => {
  it.each([40, 60, 80, 100])("fits %i columns, of every command", (columns) => {
    for (const argv of [[], ...commands.map((name) => [name])]) {
      const lines = helpOf(columns, ...argv).split("\n");
      expect(lines.length).toBeGreaterThan(3);
      expect(lines.filter((line) => columnsOf(line) > columns)).toEqual([]);
    }
  });

  it("loses no word where it is narrow", () => {
    const words = (text: string): string[] => text.split(/\s+/u).filter((word) => word !== "\\");
    for (const name of commands) expect(words(helpOf(40, name))).toEqual(words(helpOf(undefined, name)));
  });

  it("breaks an example so that a shell still reads it", () => {
    const help = fitHelp('Examples:\n  cem run --timeout 10 --json "Calculate 5 + 3"   the sum', 40);
    expect(help.split("\n").slice(1)).toEqual([
      "  cem run --timeout 10 --json \\",
      '    "Calculate 5 + 3"',
      "      the sum",
    ]);
    const quoted = fitHelp('Examples:\n  cem run "Calculate 5 + 3 and 6 + 4 and 7 + 5"', 40);
    expect(quoted.split("\n").slice(1)).toEqual(['  cem run "Calculate 5 + 3 and 6 + 4 \\', 'and 7 + 5"']);
  });

  it("is as wide as the terminal, or as COLUMNS says", () => {
    const stream = (isTTY: boolean, columns?: number) =>
      ({ isTTY, columns }) as unknown as Parameters<typeof helpColumns>[0];
    expect(helpColumns(stream(true, 55), { COLUMNS: "70" })).toBe(55);
    expect(helpColumns(stream(true, 20), {})).toBe(40);
    expect(helpColumns(stream(false), { COLUMNS: "70" })).toBe(70);
    expect(helpColumns(stream(false), { COLUMNS: "wide" })).toBeUndefined();
    expect(helpColumns(stream(false), {})).toBeUndefined();
  });
});
