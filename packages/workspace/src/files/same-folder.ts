import { stat } from "node:fs/promises";

interface Identity {
  dev: bigint;
  ino: bigint;
  bornNs: bigint;
}

/**
 * Tells whether a folder is still the one that it was at the first call: it may have been removed, and another made in its
 * place.
 */
export function followFolder(folder: string): () => Promise<boolean> {
  let first: Identity | undefined;
  return async () => {
    const found = await identityOf(folder);
    if (found === undefined) return false;
    first ??= found;
    if (found.dev !== first.dev || found.ino !== first.ino) return false;
    // A number may be given to another folder. The time of birth is not known on every file system.
    if (first.bornNs === 0n) first = found;
    return found.bornNs === 0n || found.bornNs === first.bornNs;
  };
}

async function identityOf(folder: string): Promise<Identity | undefined> {
  const found = await stat(folder, { bigint: true }).catch(() => undefined);
  if (found?.isDirectory() !== true) return undefined;
  const { dev, ino, birthtimeNs, ctimeNs } = found;
  // Where there is no time of birth, the time of the last change stands in its place.
  return { dev, ino, bornNs: birthtimeNs === ctimeNs ? 0n : birthtimeNs };
}
