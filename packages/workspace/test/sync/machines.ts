import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Store, WorkspaceSync } from "@cem/core";
import { createFolderStore, scopeStore } from "@cem/store";
import { createStoreBlobs } from "../../src/sync/blobs.ts";
import { createWorkspaceSync } from "../../src/sync/synced-workspace.ts";
import type { WorkspaceSyncSettings } from "../../src/sync/synced-workspace.ts";

/** A machine with a folder of its own for a workspace. */
export interface Machine {
  home: string;
  sync: WorkspaceSync;
  /** The files of the workspace with their texts. */
  files(): Promise<Record<string, string>>;
  write(file: string, text: string): Promise<void>;
  remove(file: string): Promise<void>;
  /** Another process of the machine, after the one before ended. */
  restart(): void;
}

/** Machines that share a store. */
export class Machines {
  readonly folder: string;
  readonly store: Store;

  private constructor(folder: string) {
    this.folder = folder;
    this.store = createFolderStore({ folder: path.join(folder, "shared") });
  }

  static async open(): Promise<Machines> {
    return new Machines(await mkdtemp(path.join(os.tmpdir(), "sync-")));
  }

  /** The part of the store for a workspace. */
  scope(workspace = "one"): Store {
    return scopeStore(this.store, "files", workspace);
  }

  machine(name: string, settings: Partial<WorkspaceSyncSettings> = {}): Machine {
    const home = path.join(this.folder, name);
    const store = settings.store ?? this.scope();
    const make = (): WorkspaceSync =>
      createWorkspaceSync({
        store,
        blobs: createStoreBlobs(store),
        roots: [
          { name: "workspace", folder: path.join(home, "workspace") },
          { name: "sessions", folder: path.join(home, "sessions") },
        ],
        recordFile: path.join(home, "sync.json"),
        limits: { maxFiles: 1_000, maxBytes: 64 * 1024 * 1024 },
        ...settings,
      });
    const place = (file: string): string => path.join(home, "workspace", file);
    const machine: Machine = {
      home,
      sync: make(),
      restart: () => void (machine.sync = make()),
      files: () => filesIn(path.join(home, "workspace")),
      async write(file, text) {
        await mkdir(path.dirname(place(file)), { recursive: true });
        await writeFile(place(file), text);
      },
      remove: (file) => rm(place(file), { recursive: true, force: true }),
    };
    return machine;
  }

  async close(): Promise<void> {
    await this.store.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const texts = await Promise.all(
    files.map(async (file) => [path.relative(folder, file), await readFile(file, "utf8")] as const),
  );
  return Object.fromEntries(texts.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
