import { PENDING_SETTINGS, redactConfig, SETTINGS } from "@cem/config";
import { toErrorInfo } from "@cem/core";
import { loadConfig } from "code-execution-mcp";
import { inspectHost, inspectSecurity } from "code-execution-mcp/admin";
import type { LoadedConfig } from "code-execution-mcp";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { InvocationOf } from "../invocation.ts";
import { serverSourceOf } from "../config-source.ts";
import { checkConfig, checkFailure, checkHost, checkNode } from "../doctor-checks.ts";
import type { Check } from "../doctor-checks.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { withHint, withHints } from "../hint.ts";
import { renderChecks, renderSettings } from "../render-doctor.ts";
import type { ListedSetting } from "../render-doctor.ts";
import { checkSecurity } from "../security-checks.ts";
import { safeData } from "../safe-text.ts";
import { counted } from "../text-layout.ts";

/** `cem doctor`: examines everything a task needs, and says what to do about what is missing. */
export async function examine(
  { listValues, security, options }: InvocationOf<"doctor">,
  context: CommandContext,
): Promise<Answer> {
  const { signal } = context;
  const checks = [checkNode(process.versions.node)];
  let settings: ListedSetting[] | undefined;
  try {
    const source = serverSourceOf(options, context);
    const { configFile: file, config: overrides, trustFolder } = source;
    const loaded = await loadConfig({ file, overrides, trustFolder, signal });
    checks.push(checkConfig(loaded));
    if (listValues) settings = listSettings(loaded);
    if (security) checks.push(...checkSecurity(await inspectSecurity(source)));
    else {
      const report = await inspectHost(source);
      checks.push(...checkHost({ ...report, upstream: withHints(report.upstream) }));
    }
  } catch (thrown) {
    signal.throwIfAborted();
    checks.push(checkFailure(withHint(toErrorInfo(thrown))));
  }
  return answerToChecks(checks, settings);
}

function listSettings({ config, origins }: LoadedConfig): ListedSetting[] {
  const shown = redactConfig(config);
  return SETTINGS.map(({ path, keys }) => {
    const value = keys.reduce<unknown>(
      (part, key) => (part as Record<string, unknown> | undefined)?.[key],
      shown,
    );
    const origin = origins[path]?.label ?? "default";
    return { path, value: value ?? null, origin, pending: PENDING_SETTINGS[path] };
  });
}

function answerToChecks(checks: readonly Check[], settings?: readonly ListedSetting[]): Answer {
  const broken = checks.filter(({ state }) => state === "broken");
  const message = `${counted(broken.length, "thing")} that a task needs ${broken.length === 1 ? "is" : "are"} broken: ${broken.map(({ name }) => name).join(", ")}.`;
  const error = broken.length === 0 ? null : { code: "DOCTOR_FOUND_BROKEN", message, details: { broken } };
  const safe = safeData({ checks, settings: settings ?? [] });
  return {
    exitCode: error === null ? EXIT_OK : EXIT_FAILED,
    data: {
      status: error === null ? "success" : "error",
      error,
      checks,
      settings,
    },
    report: (style) => [
      ...renderChecks(safe.checks, style),
      ...(settings ? renderSettings(safe.settings, style) : []),
    ],
    brief: () => safe.checks.map(({ name, state, summary }) => `${name}: ${state}, ${summary}`).join("\n"),
    complaint: error === null ? undefined : ({ colors }) => ["", colors.red(`  ${message}`)],
  };
}
