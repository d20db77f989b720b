import { lstat, mkdir, opendir, readdir, rename, rm, utimes } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";
import { isCustomerId } from "./customer-id.ts";

const PRIVATE = 0o700;
/** A folder on its way out. No customer's id begins so. */
const LEAVING = ".leaving-";
const MS_PER_DAY = 86_400_000;

/** The folders of one customer. Nobody but the owner of the process can enter them. */
export interface CustomerFolder {
  id: string;
  /** `<root>/<id>`. */
  home: string;
  /** What code of the customer sees as `/workspace`. */
  workspaceDir: string;
  /** The customer's own skills. */
  skillsDir: string;
  /** The customer's and the shared skills, as code sees them. */
  mergedSkillsDir: string;
  /** Sign-ins at MCP servers. */
  authDir: string;
}

/** What a customer has on disk. */
export interface CustomerUsage {
  id: string;
  bytes: number;
  /** Files and folders. */
  entries: number;
  /** When the customer's folder was last used, in ISO 8601. */
  lastUsed: string;
}

/** The customers whose folders are under one root. */
export interface CustomerFolders {
  /** Makes a customer's folders where they are missing, and notes that they are used. */
  open(id: string): Promise<CustomerFolder>;
  /** The ids of all customers, sorted. */
  list(): Promise<string[]>;
  /** What a customer has on disk. @throws CemError `CUSTOMER_NOT_FOUND` */
  usage(id: string): Promise<CustomerUsage>;
  /** The customers that were not used for some days. */
  inactive(days: number): Promise<string[]>;
  /** Removes everything of a customer. @throws CemError `CUSTOMER_NOT_FOUND` */
  remove(id: string): Promise<void>;
}

/** @param root - Absolute path of the folder with one folder for each customer. */
export function createCustomerFolders(root: string): CustomerFolders {
  const homeOf = (id: string): string => {
    if (!isCustomerId(id)) throw notFound(id, []);
    return path.join(root, id);
  };

  async function list(): Promise<string[]> {
    const entries = await readdir(root, { withFileTypes: true }).catch(ignoreMissing);
    const folders = (entries ?? []).filter((entry) => entry.isDirectory() && isCustomerId(entry.name));
    return folders.map(({ name }) => name).toSorted();
  }

  async function requireHome(id: string): Promise<string> {
    const home = homeOf(id);
    const found = await lstat(home).catch(ignoreMissing);
    if (found?.isDirectory() !== true) throw notFound(id, await list());
    return home;
  }

  return {
    list,
    async open(id) {
      const home = homeOf(id);
      await mkdir(home, { recursive: true, mode: PRIVATE });
      const folder: CustomerFolder = {
        id,
        home,
        workspaceDir: path.join(home, "workspace"),
        skillsDir: path.join(home, "skills"),
        mergedSkillsDir: path.join(home, ".skills"),
        authDir: path.join(home, "auth"),
      };
      for (const part of [folder.workspaceDir, folder.mergedSkillsDir]) {
        await mkdir(part, { recursive: true, mode: PRIVATE });
      }
      const now = new Date();
      await utimes(home, now, now);
      return folder;
    },
    async usage(id) {
      const home = await requireHome(id);
      const { mtime } = await lstat(home);
      return { id, ...(await measure(home)), lastUsed: mtime.toISOString() };
    },
    async inactive(days) {
      const before = Date.now() - days * MS_PER_DAY;
      const ids = await list();
      const times = await Promise.all(ids.map((id) => lstat(path.join(root, id)).catch(ignoreMissing)));
      return ids.filter((_, at) => (times[at]?.mtimeMs ?? Infinity) < before);
    },
    async remove(id) {
      const home = await requireHome(id);
      // Out of the way at once: what opens the customer meanwhile begins with nothing.
      const leaving = path.join(root, `${LEAVING}${id}-${process.hrtime.bigint()}`);
      await rename(home, leaving);
      await rm(leaving, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Counts without following links. */
async function measure(folder: string): Promise<{ bytes: number; entries: number }> {
  let [bytes, entries] = [0, 0];
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const opened = await opendir(next).catch(ignoreMissing);
    if (opened === undefined) continue;
    for await (const entry of opened) {
      entries += 1;
      const file = path.join(next, entry.name);
      if (entry.isDirectory()) pending.push(file);
      else bytes += (await lstat(file).catch(ignoreMissing))?.size ?? 0;
    }
  }
  return { bytes, entries };
}

function notFound(id: string, known: readonly string[]): CemError {
  return new CemError("CUSTOMER_NOT_FOUND", `There is no customer ${JSON.stringify(id.slice(0, 80))}.`, {
    details: { customer: id.slice(0, 80), known },
  });
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
