import { ERRORS, hintFor } from "@cem/core/errors";
import { describe, expect, it } from "vitest";
import { parseCommandLine } from "./command/command-line.ts";
import { buildProgram } from "./command/define-command.ts";
import { COMMANDS } from "./commands/all.ts";

const details = { server: "crm", host: "0.0.0.0", variable: "KEY", reason: "call-limit", maxTokens: 1 };
const hints = Object.keys(ERRORS).flatMap((code) => hintFor({ code, message: "", details }) ?? []);
const commands = hints.flatMap((hint) => hint.match(/(?<= {2})cem .+?(?= {2}|$)/gmu) ?? []);

describe("what the hints name", () => {
  it.each([...new Set(commands)])("is a command there is: %s", (command) => {
    const [, ...argv] = command.split(" ");
    expect(parseCommandLine(argv, COMMANDS, false).command).toBe(argv[0]);
  });

  it("are commands between two spaces, and options there are", () => {
    expect(hints.join("\n").match(/\bcem [a-z]/gu)).toHaveLength(commands.length);
    const program = buildProgram(COMMANDS);
    const options = [program, ...program.commands].flatMap((command) => command.options);
    const known = new Set(options.map(({ long }) => long));
    const named = hints.flatMap((hint) => hint.match(/--[a-z-]+/gu) ?? []);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((option) => !known.has(option))).toEqual([]);
  });
});
