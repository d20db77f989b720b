import type { Reconciled } from "./reconcile.ts";

const MAX_SHOWN = 10;

/** What a run's result says about its files. */
export class SyncRemarks {
  readonly #remarks = new Set<string>();

  add({ conflicts, revived }: Pick<Reconciled, "conflicts" | "revived">): void {
    for (const { path, beside } of conflicts)
      this.#remarks.add(
        `Two runs changed /${path} at the same time. Both are kept: one there, one as /${beside}.`,
      );
    for (const path of revived)
      this.#remarks.add(`One run deleted /${path} while another changed it. It is kept, as it was changed.`);
  }

  /** @param left - Files that can't be shared. */
  list(left: readonly string[]): string[] {
    const shown = left.slice(0, MAX_SHOWN).map((one) => `Not shared with other machines: ${one}.`);
    const remarks = [...this.#remarks];
    const more = remarks.length + left.length - MAX_SHOWN - shown.length;
    const all = [...remarks.slice(0, MAX_SHOWN), ...shown];
    return more > 0 && all.length >= MAX_SHOWN ? [...all, `And ${more} more.`] : all;
  }
}
