import { useWorkThreads } from "@cem/core";
import { currentOwner } from "./owner.ts";
import { OwnedWorkThreads } from "./work-threads.ts";

/**
 * Has what takes long be done by threads of this process: reading large tasks and programs, searching large catalogs.
 *
 * @param clientOf - The client that the work under way is for, where there are no customers.
 * @returns a function that ends them.
 */
export function startWorkThreads(clientOf: () => string = () => ""): { close: () => Promise<void> } {
  const threads = new OwnedWorkThreads(() => currentOwner() ?? clientOf());
  const stopUsing = useWorkThreads(threads);
  const close = (): Promise<void> => {
    stopUsing();
    return threads.close();
  };
  return { close };
}
