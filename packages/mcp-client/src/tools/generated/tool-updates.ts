import path from "node:path";
import { createTurns, toErrorInfo } from "@cem/core";
import type { LogEntry, ToolList } from "../../connection/connection-types.ts";
import { definitionsOf, type GeneratedParts, type InTurn } from "./generated-folders.ts";

/** The differences between the tools that a server lists and the generated ones. */
export interface ToolsChange {
  server: string;
  /** New tools, which code can now import. */
  added: string[];
  /** Tools whose definition differs from the accepted one. */
  changed: string[];
  /** Whether those are held back. */
  held: boolean;
  /** Tools that the server no longer has. Their files are kept, so that they can't silently return as different tools. */
  removed: string[];
}

/**
 * Writes the files of tools that were added since the server's tools were generated.
 *
 * @returns `undefined` for a server without generated tools.
 */
export async function takeInChanges(
  { servers, folders, holdChanged }: GeneratedParts,
  server: string,
  list: ToolList,
): Promise<ToolsChange | undefined> {
  const directory = await servers.folderOf(server);
  const before = await folders.read(directory);
  if (before === undefined) return undefined;
  const { lock } = before;
  const { added, changed, removed } = await folders.compare(list, lock);
  const isNew = new Set(added.map(({ name }) => name));
  if (isNew.size > 0 || (changed.length > 0 && !holdChanged)) {
    const { writeServerFiles } = await import("@cem/tool-files");
    const listed = new Map(definitionsOf(list).map((one) => [(one as { name: string }).name, one]));
    const kept = lock.tools.map(({ definition }) =>
      holdChanged ? definition : (listed.get(definition.name) ?? definition),
    );
    await writeServerFiles({
      serversDir: path.dirname(directory),
      folder: path.basename(directory),
      server,
      serverInfo: lock.server.info,
      definitions: [...kept, ...[...isNew].map((name) => listed.get(name))],
    });
  }
  return {
    server,
    added: [...isNew],
    changed: changed.map(({ name }) => name),
    held: holdChanged,
    removed: removed.map(({ definition }) => definition.name),
  };
}

/** Watches the lists of tools of connected servers. Processes the lists of a server one after another, and announces differences. */
export function watchChanges(
  takeIn: (server: string, list: ToolList) => Promise<ToolsChange | undefined>,
  log: (entry: LogEntry) => void,
) {
  const listeners = new Set<(change: ToolsChange) => void>();
  const last = new Map<string, string>();
  const turns = new Map<string, ReturnType<typeof createTurns>>();

  // No server waits for another.
  const inTurn: InTurn = (server, work) => {
    const turn = turns.get(server) ?? createTurns();
    turns.set(server, turn);
    return turn(work);
  };

  const announce = (change: ToolsChange): void => {
    log({ server: change.server, level: "info", source: "client", message: describeChange(change) });
    for (const listener of listeners) listener(change);
  };

  const take = async (server: string, list: ToolList): Promise<void> => {
    try {
      const change = await takeIn(server, list);
      if (change === undefined) return;
      const { added, changed, removed } = change;
      // Added tools are known the next time, while held-back and removed ones are reported again.
      const lasting = JSON.stringify([changed, removed]);
      const isSame = added.length === 0 && lasting === (last.get(server) ?? "[[],[]]");
      last.set(server, lasting);
      if (!isSame) announce(change);
    } catch (error) {
      const message = `The changed tools of server "${server}" could not be taken in: ${toErrorInfo(error).message}`;
      log({ server, level: "warn", source: "client", message });
    }
  };

  return {
    /** Must be called with each further list of a server. */
    onListed: (server: string, list: ToolList) => void inTurn(server, () => take(server, list)),
    announce,
    onChange: (listener: (change: ToolsChange) => void) => void listeners.add(listener),
    isHeard: (): boolean => listeners.size > 0,
    inTurn,
    /** Resolves when no work is pending. */
    settled: async (): Promise<void> => {
      await Promise.all([...turns.values()].map((turn) => turn(() => {})));
    },
  };
}

const MAX_NAMED = 10;

/** `Server "crm" has 2 new tools (a, b), 1 changed (c), held back until it is accepted, and 1 less (d).` */
export function describeChange({ server, added, changed, held, removed }: ToolsChange): string {
  const named = (names: readonly string[]): string => {
    const more = names.length > MAX_NAMED ? [`${names.length - MAX_NAMED} more`] : [];
    return `${names.length} (${[...names.slice(0, MAX_NAMED), ...more].join(", ")})`;
  };
  const parts = [
    added.length === 0 ? "" : `new ${named(added)}`,
    changed.length === 0
      ? ""
      : `changed ${named(changed)}, ${held ? "held back until accepted" : "taken over"}`,
    removed.length === 0 ? "" : `gone ${named(removed)}`,
  ].filter((part) => part !== "");
  return `Tools of server "${server}": ${parts.length === 0 ? "as they were generated" : parts.join("; ")}.`;
}
