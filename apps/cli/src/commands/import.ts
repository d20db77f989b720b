import { CemError } from "@cem/core";
import { addServers, findImportable, generateTools } from "code-execution-mcp/admin";
import type { GeneratedServer, Importable, ImportableServer } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { askYesNo } from "../ask-yes-no.ts";
import type { InvocationOf } from "../invocation.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { withHints } from "../hint.ts";
import { renderFoundServers } from "../render-importable.ts";
import { renderGenerated } from "../render-servers.ts";
import { renderRow } from "../render-rows.ts";
import { oneLine, safeData } from "../safe-text.ts";
import { counted } from "../text-layout.ts";

/** `cem import`: shows the servers that other programs are set up with, and adds them after a yes. */
export async function importServers(
  { names, yes, options }: InvocationOf<"import">,
  context: CommandContext,
): Promise<Answer> {
  const { live } = context;
  const source = serverSourceOf(options, context);
  const found = choose(await findImportable(source), names);
  const wanted = found.servers.filter(({ obstacle }) => obstacle === undefined);
  const safe = safeData({ ...found, servers: found.servers.map(withoutEntry) });
  if (live !== undefined) live.write(`${renderFoundServers(safe, live.style).join("\n")}\n`);

  const isAgreed =
    wanted.length > 0 &&
    (yes || (live !== undefined && (await askYesNo(`Add ${counted(wanted.length, "server")}?`, context))));
  let generated: GeneratedServer[] = [];
  let warnings: string[] = [];
  if (isAgreed) {
    ({ warnings } = await addServers(wanted, source));
    const enabled = wanted.filter(({ entry }) => entry["enabled"] !== false).map(({ name }) => name);
    generated = withHints(await generateTools({ ...source, servers: enabled, isFirstStart: true }));
  }
  const isDone = generated.every(({ state }) => state === "generated");
  const added = isAgreed ? wanted.map(({ name }) => name) : [];
  return {
    exitCode: isDone ? EXIT_OK : EXIT_FAILED,
    data: {
      status: isDone ? "success" : "error",
      found: found.servers.map(withoutEntry),
      problems: found.problems,
      added,
      warnings,
      generated,
    },
    report: (style) => {
      if (isAgreed) {
        const notes = warnings.flatMap((text) =>
          renderRow("note", oneLine(text), style, { paint: style.colors.yellow }),
        );
        return [...renderGenerated(safeData(generated), style), ...notes];
      }
      if (wanted.length === 0) return ["", "  There is nothing to add."];
      return ["", "  Nothing was added. To add without being asked: cem import --yes"];
    },
    brief: () => added.join("\n"),
  };
}

/** @throws CemError `SERVER_NOT_FOUND` for a name that no program has. */
function choose(found: Importable, names: readonly string[]): Importable {
  if (names.length === 0) return found;
  const there = new Set(found.servers.map(({ name }) => name));
  const missing = names.find((name) => !there.has(name));
  if (missing === undefined)
    return { ...found, servers: found.servers.filter(({ name }) => names.includes(name)) };
  throw new CemError(
    "SERVER_NOT_FOUND",
    `No other program has a server "${missing}". There are: ${[...there].join(", ") || "none"}.`,
    { details: { server: missing, known: [...there] } },
  );
}

/** Entries may hold secrets, which are not shown. */
function withoutEntry({ entry: _entry, ...shown }: ImportableServer): Omit<ImportableServer, "entry"> {
  return shown;
}
