import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

const recordSchema = z.object({
  version: z.literal(1),
  /** The server the sign-in is for. */
  url: z.string(),
  client: z.looseObject({ client_id: z.string() }).optional(),
  tokens: z.looseObject({ access_token: z.string(), token_type: z.string() }).optional(),
  /** Port of the callback address the client is registered with. */
  callbackPort: z.number().optional(),
  /** What the server asked for last, for the next sign-in. */
  requiredScope: z.string().optional(),
});

/** A stored sign-in. */
export type TokenRecord = z.infer<typeof recordSchema>;

/** Sign-ins by server address. */
export interface TokenStore {
  read(url: string): Promise<TokenRecord | undefined>;
  write(record: TokenRecord): Promise<void>;
  remove(url: string): Promise<void>;
}

/** The address without what varies or is secret: user, query and fragment. */
export function storeKey(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** Keeps sign-ins as long as the process lives. */
export function createMemoryTokenStore(): TokenStore {
  const records = new Map<string, TokenRecord>();
  return {
    async read(url) {
      return records.get(url);
    },
    async write(record) {
      records.set(record.url, record);
    },
    async remove(url) {
      records.delete(url);
    },
  };
}

/** Keeps each sign-in in a file that only its owner may read, replaced as a whole or not at all. */
export function createFileTokenStore(folder: string): TokenStore {
  const fileOf = (url: string): string =>
    join(folder, `${createHash("sha256").update(url).digest("hex").slice(0, 32)}.json`);
  return {
    async read(url) {
      try {
        const record = recordSchema.parse(JSON.parse(await readFile(fileOf(url), "utf8")));
        return record.url === url ? record : undefined;
      } catch {
        // Missing or broken: either way the user has to sign in again, which replaces the file.
        return undefined;
      }
    },
    async write(record) {
      await mkdir(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
      const file = fileOf(record.url);
      const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
      try {
        const handle = await open(temporary, "wx", OWNER_ONLY_FILE);
        try {
          await handle.writeFile(JSON.stringify(record, undefined, 2));
          await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(temporary, file);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
    async remove(url) {
      await rm(fileOf(url), { force: true });
    },
  };
}
