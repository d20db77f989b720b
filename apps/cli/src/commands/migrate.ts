import { CemError } from "@cem/core";
import { shellWord } from "@cem/core/text";
import type { Migration } from "../migrate/migration.ts";
import { renderRow } from "../render/rows.ts";
import { oneLine, type Style } from "../render/text.ts";
import { Option } from "commander";
import { answer, defineCommand } from "../command/define-command.ts";

export const migrate = defineCommand<{ folder: string; write: boolean }>({
  name: "migrate",
  group: "more",
  about: "Move a project of the Python original over",
  help: `
Reads config.yaml, .env, servers/, skills/ and workspace/ of a project in Python (AgentKernel, code_execution_mcp,
mcpruntime) and shows which configuration it would write, what works as it is, and what is left to do: tools and skills in
Python are yours to write in TypeScript. Files that are there are never changed.

Examples:
  cem migrate                    look, and write nothing
  cem migrate ../old --write     write config.cem.yaml beside the old one`,
  declare: (command) =>
    command
      .argument("[folder]", "the project", ".")
      .addOption(
        new Option(
          "--dry-run",
          "show what would be written, and write nothing (as without --write)",
        ).conflicts("write"),
      )
      .option("--write", "write the configuration; nothing that is there is changed", false),
  async run({ folder, write }, { signal }) {
    const { planMigration } = await import("../migrate/plan-migration.ts");
    const { diffOf, writeMigration } = await import("../migrate/migration.ts");
    const migration = await planMigration(folder);
    signal.throwIfAborted();
    if (!migration.isProject)
      throw new CemError(
        "FILE_NOT_FOUND",
        `${migration.folder} has nothing of the Python original: no config.yaml, no .env, no tools or skills in Python. A new project begins with: cem init`,
        { details: { path: migration.folder } },
      );
    const isMade = write && (await writeMigration(migration));
    const { config, changes, works, left } = migration;
    const isNew = config !== undefined && !config.isThere;
    const diffs = write || !isNew ? [] : [diffOf(config)];
    const next = nextSteps(migration, write, folder);
    const state = isNew ? (isMade ? "made" : "planned") : "kept";
    const files = config === undefined ? [] : [{ file: config.file, from: config.from, state }];
    const written = files.filter(({ state }) => state !== "kept").map(({ file }) => file);
    return answer({
      data: { dir: migration.folder, files, changes, works, left, diffs, next },
      report: renderMigration,
      brief: () => written.join("\n"),
    });
  },
});

function nextSteps({ config }: Migration, isWritten: boolean, folder: string): string[] {
  if (!isWritten) {
    const isNew = config !== undefined && !config.isThere;
    return isNew ? [`cem migrate ${folder === "." ? "" : `${shellWord(folder)} `}--write`] : [];
  }
  return [
    ...(folder === "." ? [] : [`cd ${shellWord(folder)}`]),
    ...(config === undefined
      ? []
      : [`mv ${config.from} config.python.yaml && mv ${config.file} config.yaml`]),
    "cem init",
    "cem doctor",
  ];
}

interface ShownMigration extends Pick<Migration, "changes" | "works" | "left"> {
  files: { file: string; from: string; state: string }[];
  diffs: string[];
  next: string[];
}

function renderMigration(shown: ShownMigration, style: Style): string[] {
  const { files, changes, works, left, diffs, next } = shown;
  const { colors } = style;
  const rows = (name: string, texts: readonly string[]): string[] =>
    texts.length === 0
      ? []
      : ["", ...texts.flatMap((text, at) => renderRow(at === 0 ? name : "", oneLine(text), style))];
  const inState = (state: string): string[] =>
    files.filter((one) => one.state === state).map(({ file, from }) => `${file}  from ${from}`);
  return [
    ...diffs.flatMap((diff) => ["", ...diff.split("\n").map((line) => painted(line, colors))]),
    ...rows("works", works),
    ...rows("changed", changes),
    ...rows("planned", inState("planned")),
    ...rows("made", inState("made")),
    ...rows(
      "kept",
      inState("kept").map((text) => `${text}  (there already)`),
    ),
    ...rows(
      "left",
      left.map(({ place, reason }) => (reason.startsWith(place) ? reason : `${place}  ${reason}`)),
    ),
    ...rows("next", next),
  ];
}

function painted(line: string, colors: Style["colors"]): string {
  if (line.startsWith("+")) return colors.green(line);
  return line.startsWith("-") ? colors.red(line) : line;
}
