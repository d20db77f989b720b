import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { CemError, parseJson, updateStored, writeFailure } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";
import { makeFolder, PRIVATE_FOLDER, replaceFile } from "@cem/core/files";
import type { SharedVaults, VaultStore } from "./redactor.ts";
import { Vault } from "./vault.ts";
import type { VaultData } from "./vault.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The format of the file, which is authenticated with it. */
const HEADER = Buffer.from("cem-vault-1\n");

/** Settings of {@link createVaultFiles}. */
interface VaultFilesSettings {
  /**
   * The folder of the files, one for each session. Only its owner may enter it. A function tells the folder of a session:
   * where there is none, nothing is kept.
   */
  folder: string | ((session: string) => string | undefined);
  /** 32 bytes in hex or base64. Keep it apart from the folder. */
  key: string | undefined;
}

/**
 * Keeps the values of sessions in files, encrypted with AES-256-GCM.
 *
 * @throws CemError `VAULT_KEY_INVALID`. Loading throws `VAULT_UNREADABLE` for a file of another key, or a changed one.
 */
export function createVaultFiles({ folder, key }: VaultFilesSettings): VaultStore {
  const secret = readKey(key);
  const folderOf = typeof folder === "string" ? () => folder : folder;
  const fileIn = (own: string, session: string): string => path.join(own, `${hash("sha256", session)}.vault`);
  /** The last save: they are made in the order in which they are asked for. */
  let saving = Promise.resolve();
  const write = async (session: string, content: Buffer): Promise<void> => {
    const own = folderOf(session);
    if (own === undefined) return;
    try {
      makeFolder(own, PRIVATE_FOLDER);
      chmodSync(own, PRIVATE_FOLDER);
      await replaceFile(fileIn(own, session), content, { durable: true });
    } catch (error) {
      throw writeFailure(error, "The file of a session's values", `the disk of ${own}`);
    }
  };
  return {
    load(session) {
      const own = folderOf(session);
      if (own === undefined) return undefined;
      const file = fileIn(own, session);
      return existsSync(file) ? decrypt(file, secret, session) : undefined;
    },
    save(session, data) {
      const done = saving.then(() => write(session, encrypt(data, secret, session)));
      saving = done.catch(() => {});
      return done;
    },
    async remove(session) {
      const own = folderOf(session);
      if (own !== undefined) await rm(fileIn(own, session), { force: true });
    },
  };
}

function readKey(key: string | undefined): Buffer {
  const text = key?.trim() ?? "";
  const bytes = Buffer.from(text, /^[\da-f]{64}$/i.test(text) ? "hex" : "base64");
  if (bytes.length === KEY_BYTES) return bytes;
  throw new CemError(
    "VAULT_KEY_INVALID",
    key === undefined
      ? "Values are to be kept on disk, and there is no key to encrypt them with."
      : `The key that encrypts values has ${bytes.length} bytes instead of ${KEY_BYTES}.`,
  );
}

/** The name of the session is authenticated too, so that a file can't be put in the place of another. */
function encrypt(data: VaultData, key: Buffer, session: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const context = Buffer.concat([HEADER, Buffer.from(session)]);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(context);
  const body = Buffer.concat([cipher.update(JSON.stringify(data)), cipher.final()]);
  return Buffer.concat([HEADER, nonce, cipher.getAuthTag(), body]);
}

function decrypt(file: string, key: Buffer, session: string): VaultData {
  try {
    const bytes = readFileSync(file);
    const tagAt = HEADER.length + NONCE_BYTES;
    const bodyAt = tagAt + TAG_BYTES;
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(HEADER.length, tagAt))
      .setAAD(Buffer.concat([HEADER, Buffer.from(session)]))
      .setAuthTag(bytes.subarray(tagAt, bodyAt));
    const text = Buffer.concat([decipher.update(bytes.subarray(bodyAt)), decipher.final()]).toString("utf8");
    return JSON.parse(text) as VaultData;
  } catch (cause) {
    const message = `The values in ${file} can't be read with this key.`;
    throw new CemError("VAULT_UNREADABLE", message, { details: { file }, cause });
  }
}

/** How long after its last change a session's values are kept. */
const KEPT_MS = 30 * 86_400_000;

/** Settings of {@link createSharedVaults}. */
interface SharedVaultsSettings {
  /** Has to seal what it keeps. */
  store: Store;
  /** The key of a session's values. `undefined`: nothing of it is kept. */
  keyOf: (session: string) => Promise<StoreKey | undefined>;
}

/**
 * Keeps the values of sessions in a store, so that tokens of one machine stand for the same values on others. What several
 * machines add at the same time is joined. Values are kept for 30 days after the last change of their session.
 *
 * @throws CemError `STORE_UNAVAILABLE`, and `VAULT_UNREADABLE` for what is no vault.
 */
export function createSharedVaults({ store, keyOf }: SharedVaultsSettings): SharedVaults {
  return {
    async load(session) {
      const key = await keyOf(session);
      const found = key && (await store.read(key));
      return found && parse(found.value, session);
    },
    async save(session, data) {
      const key = await keyOf(session);
      if (key === undefined) return data;
      return updateStored(store, key, (found) => {
        const joined = found === undefined ? data : join(parse(found, session), data);
        return { value: Buffer.from(JSON.stringify(joined)), result: joined, expiresInMs: KEPT_MS };
      });
    },
  };
}

function join(kept: VaultData, own: VaultData): VaultData {
  const vault = new Vault(kept);
  vault.merge(own);
  return vault.toJSON();
}

function parse(bytes: Uint8Array, session: string): VaultData {
  const data = parseJson(bytes) as VaultData | null | undefined;
  if (data?.version === 1 && Array.isArray(data.entries)) return data;
  const message = `The values of the session ${JSON.stringify(session)} in the store can't be read.`;
  throw new CemError("VAULT_UNREADABLE", message);
}
