import { toErrorInfo } from "@cem/core";
import type { LoadedConfig } from "code-execution-mcp";
import { withHint } from "../errors.ts";
import type { Answer } from "../io/terminal.ts";
import { LABEL_COLUMNS, renderPairs, renderRow } from "../render/rows.ts";
import { counted, oneLine, wrapIndented, type Style } from "../render/text.ts";
import { configOrList, serverSourceOf } from "../command/options.ts";
import type { Check, CheckState } from "../doctor/checks.ts";
import { addOptions, answer, defineCommand } from "../command/define-command.ts";

interface Doctor {
  /** Whether every setting is listed. */
  listValues: boolean;
  /** Whether only the protection of the host is checked. */
  security: boolean;
  options: { config: string | undefined };
}

export const doctor = defineCommand<Doctor>({
  name: "doctor",
  group: "start",
  about: "Check Node, configuration, tools, sandboxes",
  help: `
--config alone lists every setting with its value and where that comes from; --config FILE lists those of
that file. Secrets are never shown. --security shows what protects this host and what does not, and connects to nothing.

Examples:
  cem doctor
  cem doctor --config
  cem doctor --security
  cem doctor --json`,
  declare: (command) =>
    addOptions(command, configOrList()).option(
      "--security",
      "look at what protects this host, and at nothing else",
      false,
    ),
  read: (command) => {
    const { config, security } = command.opts<{ config?: string | true | undefined; security: boolean }>();
    const before = command.parent?.opts<{ config?: string | undefined }>().config;
    const file = typeof config === "string" ? config : before;
    return { listValues: config !== undefined, security, options: { config: file } };
  },
  async run({ listValues, security, options }, context) {
    const { loadConfig } = await import("code-execution-mcp");
    const { inspectHost, inspectSecurity } = await import("code-execution-mcp/admin");
    const { check, checkConfig, checkFailure, checkHost } = await import("../doctor/checks.ts");
    const { checkSecurity } = await import("../doctor/security.ts");
    const { signal } = context;
    // A Node.js version that is too old does not get this far.
    const checks = [check("node", "ok", process.versions.node)];
    let settings: ListedSetting[] | undefined;
    try {
      const source = serverSourceOf(options, context);
      const loaded = await loadConfig(source);
      checks.push(checkConfig(loaded));
      if (listValues) settings = await listSettings(loaded);
      if (security) checks.push(...checkSecurity(await inspectSecurity(source)));
      else {
        checks.push(...checkHost(await inspectHost(source)));
      }
    } catch (thrown) {
      signal.throwIfAborted();
      checks.push(checkFailure(withHint(toErrorInfo(thrown))));
    }
    return answerToChecks(checks, settings);
  },
});

/** A setting as `cem doctor --config` lists it; secrets are masked. */
type ListedSetting = Awaited<ReturnType<typeof listSettings>>[number];

async function listSettings({ config, origins }: LoadedConfig) {
  const { SETTINGS, redactConfig } = await import("@cem/config");
  const { getPath } = await import("@cem/config/yaml");
  const shown = redactConfig(config);
  return SETTINGS.map(({ path, keys }) => {
    const origin = origins[path]?.label ?? "default";
    return { path, value: getPath(shown, keys) ?? null, origin };
  });
}

function answerToChecks(checks: readonly Check[], settings?: readonly ListedSetting[]): Answer {
  const broken = checks.filter(({ state }) => state === "broken");
  const message = `${counted(broken.length, "thing")} that a task needs ${broken.length === 1 ? "is" : "are"} broken: ${broken.map(({ name }) => name).join(", ")}.`;
  const error = broken.length === 0 ? null : { code: "DOCTOR_FOUND_BROKEN", message, details: { broken } };
  return answer({
    data: { error, checks, settings },
    isDone: error === null,
    report: (shown, style) => [
      ...renderChecks(shown.checks, style),
      ...(shown.settings ? renderSettings(shown.settings, style) : []),
    ],
    brief: (shown) =>
      shown.checks.map(({ name, state, summary }) => `${name}: ${state}, ${summary}`).join("\n"),
    complaint: (_, { colors }) => (error === null ? [] : ["", colors.red(`  ${message}`)]),
  });
}

/** Renders each check on a row, with its notes below it. */
function renderChecks(checks: readonly Check[], style: Style): string[] {
  const { colors } = style;
  const paint: Record<CheckState, (text: string) => string> = {
    ok: String,
    off: colors.dim,
    warning: colors.yellow,
    broken: colors.red,
  };
  const labelColumns = Math.max(LABEL_COLUMNS, ...checks.map(({ name }) => name.length));
  const indent = " ".repeat(labelColumns + 4);
  const rows = checks.flatMap(({ name, state, summary, notes }) => [
    ...renderRow(name, oneLine(summary), style, { labelColumns, paint: paint[state], right: state }),
    ...notes.flatMap((note) => wrapIndented(note, indent, style.width).map((line) => colors.dim(line))),
  ]);
  return ["", ...rows];
}

function renderSettings(settings: readonly ListedSetting[], style: Style): string[] {
  const pairs = settings.map(({ path, value, origin }): [string, string] => {
    const text =
      value === null ? "unset" : typeof value === "string" ? oneLine(value) : JSON.stringify(value);
    return [path, `${text}  (${origin})`];
  });
  return ["", ...renderPairs(pairs, "  ", style)];
}
