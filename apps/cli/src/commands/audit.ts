import { actionArgument, serverSourceOf } from "../command/options.ts";
import { renderRow } from "../render/rows.ts";
import { counted, oneLine, safeText, shortPath } from "../render/text.ts";
import { answer, defineCommand } from "../command/define-command.ts";

export const audit = defineCommand<{ file?: string | undefined; expect?: string | undefined }>({
  name: "audit",
  group: "runs",
  about: "Check that an audit log is whole",
  help: `
Each line has the hash of the line before: a line that is missing or was changed is found, and by the file .head beside
the log a tail that was cut off. Who can write both can cut the log unseen: keep the printed hash elsewhere, and give it
with --expect the next time.

Examples:
  cem audit verify
  cem audit verify logs/audit.jsonl --expect 9f86d081884c7d65…`,
  settings: ["config"],
  declare: (command) =>
    command
      .addArgument(actionArgument(["verify"]))
      .argument("[file]", "the log, instead of the one that logging.audit_file names")
      .option("--expect <hash>", "a hash that an earlier check printed, which the log has to have"),
  async run({ file, expect, options }, context) {
    const { verifyAudit } = await import("code-execution-mcp/admin");
    const verified = await verifyAudit({ ...serverSourceOf(options, context), file, expect });
    const { files, lines, head, problems } = verified;
    const isWhole = problems.length === 0;
    const message = `The audit log has ${counted(problems.length, "problem")}: ${problems[0]?.message ?? ""}`;
    const failure = { error: { code: "AUDIT_BROKEN", message, details: verified } };
    return answer({
      data: isWhole ? verified : failure,
      isDone: isWhole,
      report: (_, style) => [
        "",
        ...renderRow("files", files.map(shortPath).join(", "), style),
        ...renderRow("lines", counted(lines, "line"), style),
        ...renderRow("hash", head, style),
        ...(isWhole ? ["", "  No line is missing and none was changed."] : []),
      ],
      brief: () => head,
      complaint: (_, { colors }) =>
        problems.map(({ file: broken, line, message: why }) => {
          const place = line === undefined ? shortPath(broken) : `${shortPath(broken)}:${line}`;
          return colors.red(oneLine(safeText(`${place}  ${why}`)));
        }),
    });
  },
});
