import { readFile } from "node:fs/promises";
import { CemError, createTurns, Shares } from "@cem/core";
import type { FileLockOptions } from "@cem/core/files";
import * as z from "zod";
import { signInFile } from "./sign-in-file.ts";

const recordSchema = z.object({
  version: z.literal(1),
  /** The key of the server the sign-in is for, as `storeKey` returns it. */
  url: z.string(),
  client: z.looseObject({ client_id: z.string() }).optional(),
  tokens: z.looseObject({ access_token: z.string(), token_type: z.string() }).optional(),
  /** Port of the redirect URI the client is registered with. */
  callbackPort: z.number().optional(),
  /** The scope that the server required, combined with the granted one. The next sign-in requests it. */
  requiredScope: z.string().optional(),
});

/** A stored sign-in: the client registration and the tokens for one server. */
export type TokenRecord = z.infer<typeof recordSchema>;

export interface TokenStore {
  read(url: string): Promise<TokenRecord | undefined>;
  write(record: TokenRecord): Promise<void>;
  /** Runs an action under a lock for this URL, shared by all users of the store. */
  exclusively(url: string, action: () => Promise<void>, options: FileLockOptions): Promise<void>;
}

export function createMemoryTokenStore(): TokenStore {
  const records = new Map<string, TokenRecord>();
  const turns = new Shares(1);
  return {
    exclusively: (url, action) => turns.run(url, new AbortController().signal, action),
    read: async (url) => records.get(url),
    write: async (record) => void records.set(record.url, record),
  };
}

/** Creates a store of one file for each server, which only its owner may read and which is replaced atomically. */
export function createFileTokenStore(
  folder: string,
  customerExists = (): Promise<boolean> => Promise.resolve(true),
): TokenStore {
  const fileOf = (url: string): string => signInFile(folder, url);
  const requireOwner = async (): Promise<void> => {
    if (await customerExists()) return;
    throw new CemError("OWNER_GONE", "The customer was deleted, so the sign-in is not kept.");
  };
  const replace = async (record: TokenRecord): Promise<void> => {
    const { replaceFile } = await import("@cem/core/files");
    await requireOwner();
    await replaceFile(fileOf(record.url), JSON.stringify(record, undefined, 2));
  };
  const inTurn = createTurns();
  return {
    async exclusively(url, action, options) {
      const { makeFolder, PRIVATE_FOLDER, withFileLock } = await import("@cem/core/files");
      await requireOwner();
      makeFolder(folder, PRIVATE_FOLDER);
      await withFileLock(`${fileOf(url)}.lock`, action, options);
    },
    async read(url) {
      try {
        const record = recordSchema.parse(JSON.parse(await readFile(fileOf(url), "utf8")));
        return record.url === url ? record : undefined;
      } catch {
        // A missing and an invalid file both mean that the user has to sign in again, which replaces the file.
        return undefined;
      }
    },
    // Serialized, so that the last call wins.
    write: (record) => inTurn(() => replace(record)),
  };
}
