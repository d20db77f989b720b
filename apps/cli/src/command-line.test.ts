import { describe, expect, it } from "vitest";
import { COMMANDS } from "./commands/all.ts";
import { parseCommandLine } from "./command/command-line.ts";

const parse = (...argv: string[]) => parseCommandLine(argv, COMMANDS, false);

describe("parseCommandLine", () => {
  it("takes shared options before and after the command", () => {
    const expected = {
      command: "run",
      task: "Calculate 5 + 3",
      options: { json: true, workspace: "w", timeout: 2.5, color: false },
    };
    expect(
      parse("--json", "--workspace", "w", "run", "Calculate 5 + 3", "--timeout", "2.5", "--no-color"),
    ).toMatchObject(expected);
    expect(
      parse("run", "Calculate", "5", "+", "3", "--json", "--no-color", "--timeout=2.5", "--workspace=w"),
    ).toMatchObject(expected);
  });

  it("lets the option after the command win", () => {
    expect(parse("--servers", "a", "tools", "--servers", "b")).toMatchObject({ options: { servers: "b" } });
  });

  it("tells doctor's --config apart from the file", () => {
    expect(parse("doctor")).toMatchObject({ listValues: false });
    expect(parse("doctor", "--config")).toMatchObject({ listValues: true });
    expect(parse("doctor", "--config", "x.yaml")).toMatchObject({
      listValues: true,
      options: { config: "x.yaml" },
    });
    expect(parse("--config", "x.yaml", "doctor")).toMatchObject({
      listValues: false,
      options: { config: "x.yaml" },
    });
    expect(parse("--config", "x.yaml", "doctor", "--config")).toMatchObject({
      listValues: true,
      options: { config: "x.yaml" },
    });
  });

  it("takes a task that begins with a dash after --", () => {
    expect(parse("run", "--json", "--", "-5 + 3", "--quiet")).toMatchObject({
      task: "-5 + 3 --quiet",
      options: { json: true, quiet: false },
    });
    expect(() => parse("run", "--5 + 3")).toThrow(/go after "--"/u);
  });

  it("prints help without a command, and for each command with examples", () => {
    expect(parse()).toMatchObject({ command: "help", text: expect.stringContaining("Usage: cem <command>") });
    for (const name of ["run", "exec", "tools", "search", "doctor", "init"]) {
      expect(parse(name, "--help")).toMatchObject({
        command: "help",
        text: expect.stringContaining("Examples:"),
      });
      expect(parse("help", name).text).toBe(parse(name, "--help").text);
    }
  });

  it.each([
    [["run", "x", "--jsno"], /unknown option '--jsno'\. Did you mean --json\?/iu],
    [["Calculate 5 + 3"], /To run a task: cem run "Calculate 5 \+ 3"/u],
    [["run"], /missing required argument 'task'\. See: cem run --help/iu],
    [["exec", "a.ts", "b.ts"], /too many arguments/iu],
    [["search", "x", "--max", "0"], /whole number from 1 to 1000/u],
    [["run", "x", "--timeout", "soon"], /number of seconds above 0/u],
    [["run", "x", "--min-isolation", "chroot"], /Allowed choices are microvm, namespaces, permissions/u],
    [["run", "x", "--config"], /argument missing/iu],
  ])("says what is wrong with %j", (argv, message) => {
    expect(() => parse(...argv)).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringMatching(message) }),
    );
  });

  it("takes an unknown command for a plugin's, with what to say where no plugin has it", () => {
    const usage = expect.objectContaining({
      code: "USAGE",
      message: expect.stringMatching(/unknown command 'rnu'\. Did you mean run\?/iu),
    });
    expect(parse("rnu", "x", "--own", "--json")).toMatchObject({
      command: "plugin-command",
      name: "rnu",
      words: ["x", "--own"],
      options: { json: true },
      usage,
    });
  });
});
