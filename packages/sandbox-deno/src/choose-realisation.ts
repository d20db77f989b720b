import { findBubblewrap } from "./bubblewrap.ts";
import type { Realisation } from "./realisation.ts";

export type IsolationChoice = "auto" | "bubblewrap" | "unshare" | "permissions";

export async function chooseRealisation(choice: IsolationChoice, denoFile: string): Promise<{ realisation: Realisation; notes: string[] }> {
  const found = findBubblewrap();
  if (!found.ok) throw new Error(found.reason);
  return { realisation: found.realisation, notes: [] };
}
