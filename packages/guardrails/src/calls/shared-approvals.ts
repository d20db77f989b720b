import { createHash } from "node:crypto";
import type { Store, StoreKey } from "@cem/core";
import type { ApprovalMemory } from "./require-approval.ts";

/** How long a yes for a session holds, which has no end that every machine knows. */
const HOLDS_MS = 86_400_000;

/** Settings of {@link createSharedApprovals}. */
export interface SharedApprovalsSettings {
  store: Store;
  /** What the keys begin with: those of one owner, or of nobody in particular. */
  scope: StoreKey;
}

/** Remembers in a store what a person has said yes to for a session, for a day, so that no other machine asks again. */
export function createSharedApprovals({ store, scope }: SharedApprovalsSettings): ApprovalMemory {
  const keyOf = (session: string, tool: string): StoreKey => [...scope, digest(session), digest(tool)];
  return {
    async has(session, tool) {
      return (await store.read(keyOf(session, tool))) !== undefined;
    },
    async add(session, tool) {
      await store.write(keyOf(session, tool), Buffer.from("session"), { expiresInMs: HOLDS_MS });
    },
  };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
