import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { CemError, parseJson, updateStored, writeFailure, type Store, type StoreKey } from "@cem/core";
import { makeFolder, PRIVATE_FOLDER, replaceFile } from "@cem/core/files";
import type { SharedVaults, VaultStore } from "./redactor.ts";
import { Vault, type VaultData } from "./vault.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The format of the file, which is part of the authenticated data. */
const HEADER = Buffer.from("cem-vault-1\n");
const TAG_AT = HEADER.length + NONCE_BYTES;
const BODY_AT = TAG_AT + TAG_BYTES;
/** Known plaintext at the beginning, by which the right key is identified. */
const BEGINNING = Buffer.from(`{"version":1,`);
/** How long a session's values are kept after their last change. */
const KEPT_MS = 30 * 86_400_000;

/** Settings of {@link createVaultFiles}. */
interface VaultFilesSettings {
  /**
   * The folder of the files, one for each session. Only its owner may access it. A function returns the folder of a
   * session; without one, nothing is kept.
   */
  folder: string | ((session: string) => string | undefined);
  /**
   * 32 bytes in hex or base64, or several separated by commas: the first encrypts, all of them decrypt. Store it separately
   * from the folder.
   */
  key: string | undefined;
}

/**
 * Persists the values of sessions in files, encrypted with AES-256-GCM.
 *
 * @throws CemError `VAULT_KEY_INVALID`. Loading throws `VAULT_UNREADABLE` for a file with another key, or a modified one.
 */
export function createVaultFiles({ folder, key }: VaultFilesSettings): VaultStore {
  const keys = readKeys(key);
  const folderOf = typeof folder === "string" ? () => folder : folder;
  const fileIn = (own: string, session: string): string => path.join(own, `${hash("sha256", session)}.vault`);
  /** The last save. Saves are executed in order. */
  let saving = Promise.resolve();
  const write = async (session: string, content: Buffer): Promise<void> => {
    const own = folderOf(session);
    if (own === undefined) return;
    try {
      makeFolder(own, PRIVATE_FOLDER);
      chmodSync(own, PRIVATE_FOLDER);
      await replaceFile(fileIn(own, session), content, { durable: true });
    } catch (error) {
      throw writeFailure(error, "The file of a session's values", "the disk of the values");
    }
  };
  return {
    load(session) {
      const own = folderOf(session);
      if (own === undefined) return undefined;
      const file = fileIn(own, session);
      return existsSync(file) ? reading(file, () => decrypt(readFileSync(file), keys, session)) : undefined;
    },
    save(session, data) {
      const done = saving.then(() => write(session, encrypt(data, keys, session)));
      saving = done.catch(() => {});
      return done;
    },
    async remove(session) {
      const own = folderOf(session);
      if (own !== undefined) await rm(fileIn(own, session), { force: true });
    },
  };
}

/** Removes the files of sessions without changes for 30 days, since a killed process does not remove its own. */
export function removeOldVaults(folder: string): void {
  try {
    for (const file of vaultsIn(folder)) if (statSync(file).mtimeMs < Date.now() - KEPT_MS) rmSync(file);
  } catch {
    // Another process was faster, or the folder is not writable.
  }
}

/**
 * Counts the files of a folder that are encrypted with an older key.
 *
 * @throws CemError `VAULT_UNREADABLE` for a file that no key decrypts.
 */
export function countOlderKeys(folder: string, key: string | undefined): number {
  const keys = readKeys(key);
  return vaultsIn(folder).filter((file) => reading(file, () => keyOf(headOf(file), keys)) !== keys[0]).length;
}

function vaultsIn(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => name.endsWith(".vault")).map((name) => path.join(folder, name));
}

function readKeys(text = ""): Buffer[] {
  return text.split(",").map((one) => {
    const key = one.trim();
    const bytes = Buffer.from(key, /^[\da-f]{64}$/i.test(key) ? "hex" : "base64");
    if (bytes.length === KEY_BYTES) return bytes;
    throw new CemError(
      "VAULT_KEY_INVALID",
      text === ""
        ? "Values are to be kept on disk, and there is no key to encrypt them with."
        : `A key that encrypts values has ${bytes.length} bytes instead of ${KEY_BYTES}.`,
    );
  });
}

/** The session's name is authenticated too, so that a file can't replace another. */
function encrypt(data: VaultData, keys: readonly Buffer[], session: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const context = Buffer.concat([HEADER, Buffer.from(session)]);
  const cipher = createCipheriv("aes-256-gcm", keys[0] ?? "", nonce).setAAD(context);
  const body = Buffer.concat([cipher.update(JSON.stringify(data)), cipher.final()]);
  return Buffer.concat([HEADER, nonce, cipher.getAuthTag(), body]);
}

function decrypt(bytes: Buffer, keys: readonly Buffer[], session: string): VaultData {
  const decipher = decipherOf(bytes, keyOf(bytes, keys))
    .setAAD(Buffer.concat([HEADER, Buffer.from(session)]))
    .setAuthTag(bytes.subarray(TAG_AT, BODY_AT));
  const text = Buffer.concat([decipher.update(bytes.subarray(BODY_AT)), decipher.final()]).toString("utf8");
  return JSON.parse(text) as VaultData;
}

/** Identifies the key of a file. Its content can't be authenticated without the session, which the file does not contain. */
function keyOf(bytes: Buffer, keys: readonly Buffer[]): Buffer {
  const start = bytes.subarray(BODY_AT, BODY_AT + BEGINNING.length);
  const found = keys.find((key) => decipherOf(bytes, key).update(start).equals(BEGINNING));
  if (found === undefined) throw new Error("None of the keys opens it.");
  return found;
}

function decipherOf(bytes: Buffer, key: Buffer) {
  return createDecipheriv("aes-256-gcm", key, bytes.subarray(HEADER.length, TAG_AT));
}

/** The part of a file that identifies its key. */
function headOf(file: string): Buffer {
  const head = Buffer.alloc(BODY_AT + BEGINNING.length);
  const descriptor = openSync(file, "r");
  try {
    return head.subarray(0, readSync(descriptor, head));
  } finally {
    closeSync(descriptor);
  }
}

function reading<Content>(file: string, read: () => Content): Content {
  try {
    return read();
  } catch (cause) {
    const message = `The values in ${file} can't be read with this key.`;
    throw new CemError("VAULT_UNREADABLE", message, { details: { file }, cause });
  }
}

/** Settings of {@link createSharedVaults}. */
interface SharedVaultsSettings {
  /** Must be an encrypted store. */
  store: Store;
  /** Returns the store key of a session's values. `undefined`: nothing is kept. */
  keyOf: (session: string) => Promise<StoreKey | undefined>;
}

/**
 * Persists the values of sessions in a store, so that tokens are valid on all machines. Concurrent additions are merged.
 * Values are kept for 30 days after the last change of their session.
 *
 * @throws CemError `STORE_UNAVAILABLE`, and `VAULT_UNREADABLE` for invalid data.
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
