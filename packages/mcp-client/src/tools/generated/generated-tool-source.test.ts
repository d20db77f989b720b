import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { allowObserving, readObserved } from "@cem/tool-files";
import { expect, it, onTestFinished } from "vitest";
import { createResultObserver } from "./generated-tool-source.ts";
import type { AcceptedTool } from "./generated-tool-source.ts";

/** How many results of each tool the folder's file tells of. */
async function countsIn(folder: string): Promise<Record<string, number>> {
  const observed = (await readObserved(folder)) ?? [];
  return Object.fromEntries([...observed].map(([name, { results }]) => [name, results]));
}

it("keeps twenty results of a tool, none that is large, and 8 Mi characters in all until they are saved", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "cem-observer-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await allowObserving(folder);
  const observer = createResultObserver();
  const tool = (name: string): AcceptedTool => ({
    folder,
    locked: { definition: { name }, sha256: "", file: "" } as unknown as AcceptedTool["locked"],
  });
  const observe = async (name: string, characters: number): Promise<void> => {
    for (let index = 0; index < 21; index += 1) {
      await observer.observe(tool(name), { text: "x".repeat(characters) });
    }
  };
  await observe("small", 10);
  await observe("large", 300_000);
  await observe("first", 200_000);
  await observe("second", 200_000);
  await observe("third", 200_000);
  await observer.save();
  expect(await countsIn(folder)).toEqual({ small: 20, first: 20, second: 20, third: 1 });
  await observe("third", 200_000);
  await observer.save();
  expect(await countsIn(folder)).toMatchObject({ third: 21 });
});
