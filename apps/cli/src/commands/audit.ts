import { verifyAudit } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";
import { renderRow } from "../render-rows.ts";
import { oneLine, safeText } from "../safe-text.ts";
import { shortPath } from "../short-path.ts";
import { counted } from "../text-layout.ts";

/** `cem audit verify`: says whether lines of an audit log are missing or were changed. */
export async function verifyAuditLog(
  { file, expect, options }: InvocationOf<"audit">,
  context: CommandContext,
): Promise<Answer> {
  const verified = await verifyAudit({ ...serverSourceOf(options, context), file, expect });
  const { files, lines, head, problems } = verified;
  const isWhole = problems.length === 0;
  return {
    exitCode: isWhole ? EXIT_OK : EXIT_FAILED,
    data: isWhole
      ? { status: "success", ...verified }
      : { status: "error", error: { code: "AUDIT_BROKEN", message: describe(problems), details: verified } },
    report: (style) => [
      "",
      ...renderRow("files", files.map(shortPath).join(", "), style),
      ...renderRow("lines", counted(lines, "line"), style),
      ...renderRow("hash", head, style),
      ...(isWhole ? ["", "  No line is missing and none was changed."] : []),
    ],
    brief: () => head,
    complaint: ({ colors }) =>
      problems.map(({ file: broken, line, message }) => {
        const place = line === undefined ? shortPath(broken) : `${shortPath(broken)}:${line}`;
        return colors.red(oneLine(safeText(`${place}  ${message}`)));
      }),
  };
}

function describe(problems: readonly { message: string }[]): string {
  const [first] = problems;
  return `The audit log has ${counted(problems.length, "problem")}: ${first?.message ?? ""}`;
}
