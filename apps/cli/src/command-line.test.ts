import { writeFileSync } from "node:fs";
import path from "node:path";
import { RECORDED_STATUSES } from "@cem/core";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "./commands/all.ts";
import { parseCommandLine } from "./command/command-line.ts";
import { buildProgram } from "./command/define-command.ts";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";

const parse = (...argv: string[]) => parseCommandLine(argv, COMMANDS, false);

/** Arguments and options with which each command comes to the point where it answers; others need none. */
const NEEDED: Record<string, string[]> = {
  add: ["x", "--", "node", "-e", "0"],
  audit: ["verify"],
  auth: ["x"],
  call: ["a.b"],
  exec: ["a.ts"],
  form: ["validate", "form.yaml"],
  remove: ["x"],
  run: ["x"],
  search: ["x"],
  serve: ["--cost"],
};
const SAMPLE_VALUES: Record<string, string> = {
  "--data": "ada.yaml",
  "--env": "KEY=1",
  "--header": "x-key: 1",
  "--inactive": "30d",
  "--since": "2d",
  "--var": "city=Oslo",
};

describe("options that help lists", () => {
  const program = buildProgram(COMMANDS);
  const listed = program.commands.map((command) => ({
    name: command.name(),
    options: command.options.filter(({ hidden }) => !hidden),
    needed: NEEDED[command.name()] ?? [],
  }));

  it.each(listed)("are read: $name", ({ name, options, needed }) => {
    for (const { long = "", argChoices, required, flags } of options) {
      const isForUrl = name === "add" && (long === "--header" || long === "--transport");
      const value =
        argChoices?.[0] ?? SAMPLE_VALUES[long] ?? (/dir|file|id|type|name/u.test(flags) ? "x" : "1");
      const given = long === "--expose" ? ["resources"] : [value];
      const words = isForUrl ? ["x", "https://x.org"] : needed;
      expect(parse(name, long, ...(required ? given : []), ...words).command).toBe(name);
    }
  });

  it.each(listed)("have an answer printed as JSON: $name", async ({ name, options, needed }) => {
    const cwd = temporaryFolder();
    writeFileSync(path.join(cwd, "form.yaml"), "name: f\nfields:\n  - name: a\n    type: text\n");
    writeFileSync(path.join(cwd, "a.ts"), "export default 1;");
    const names = new Set(options.map(({ long }) => long));
    // A configuration that is not there is written by the command that adds servers.
    const broken = name !== "add" && names.has("--config") ? ["--config", "missing.yaml"] : [];
    const { stdout } = await runCem([name, "--json", ...broken, ...needed], { cwd });
    const { error } = JSON.parse(stdout) as { error?: { code: string; message: string } };
    const said = broken.length === 0 ? /./u : /missing\.yaml|needs are broken|is broken: config/u;
    const refusal = new RegExp(`cem ${name} prints no answer`, "u");
    expect(error?.message ?? "none").toMatch(names.has("--json") ? said : refusal);
    expect(error?.code === "USAGE").toBe(!names.has("--json"));
  });
});

it("statuses that can be asked for are those of records", () => {
  const { commands } = buildProgram(COMMANDS);
  const choices = commands.flatMap(({ options, registeredArguments }) =>
    [...options, ...registeredArguments].flatMap(({ argChoices = [] }) => argChoices),
  );
  expect(choices).toEqual(expect.arrayContaining([...RECORDED_STATUSES]));
  for (const other of ["failed", "completed", "aborted", "queued"]) expect(choices).not.toContain(other);
});

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
    expect(parse("auth", "--help").text).toContain("--customer <id>");
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
});
