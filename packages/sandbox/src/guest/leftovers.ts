import { deno } from "./deno.ts";
import { toHostPath } from "./paths.ts";
import { resetProcess } from "./process.ts";

const WORKSPACE = "/workspace";

/** A SQLite database. */
export interface Database {
  close(): void;
}

const databases = new Set<Database>();
const objectUrls = new Set<string>();

/** Notes the databases that programs open: one that is left open may stay locked. */
export function trackDatabases(type: new () => Database): new () => Database {
  return new Proxy(type, {
    construct(target, args, newTarget) {
      const database = Reflect.construct(target, args, newTarget) as Database;
      databases.add(database);
      return database;
    },
  });
}

/** Notes the object URLs that programs make. */
export function trackObjectUrls(): void {
  const create = URL.createObjectURL.bind(URL);
  URL.createObjectURL = (blob) => {
    const url = create(blob);
    objectUrls.add(url);
    return url;
  };
}

/** Undoes what a program may have left in the runtime; returns whether all of it could be undone. */
export function clearLeftovers(): boolean {
  for (const database of databases) close(database);
  databases.clear();
  for (const url of objectUrls) URL.revokeObjectURL(url);
  objectUrls.clear();
  performance.clearMarks();
  performance.clearMeasures();
  deno.chdir(toHostPath(WORKSPACE));
  return resetProcess();
}

function close(database: Database): void {
  try {
    database.close();
  } catch {
    // The program has closed it.
  }
}
